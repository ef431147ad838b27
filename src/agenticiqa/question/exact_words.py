"""What is read exactly, by its words: signs, writing, tools, colours, prints, what is left out and the key of JSON."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable

from agenticiqa.question.late_pattern import LatePattern
from agenticiqa.values import Language

_CJK = r"\u3040-\u30ff\u3400-\u9fff"
_SIGNS = str.maketrans("‘’“”`−", "''\"\"'-")


def normalise(text: str) -> str:
    """The text with full-width signs, curly quotes and line ends made plain; letters keep their case."""
    plain = unicodedata.normalize("NFKC", text).translate(_SIGNS)
    return re.sub(r"[ \t\r\f\v]+", " ", plain).strip()


def simplified(text: str) -> str:
    """The text in simplified Chinese writing, letter by letter."""
    return text.translate(_SIMPLIFIED)


def written_language(text: str, read_as: Language) -> Language:
    """The language a text was read as, or English where its writing speaks against it: "?" is not Chinese."""
    is_spaceless = bool(re.search(rf"[{_CJK}]", text))
    has_words = bool(re.search(r"[^\W\d_]*[^\W\d_A-Z][^\W\d_]*", text))
    if is_spaceless and read_as not in ("zh", "ja"):
        return "ja" if re.search(r"[\u3040-\u30ff]", text) else "zh"
    return read_as if is_spaceless or (has_words and read_as not in ("zh", "ja")) else "en"


# Names of metrics, known however they are written, also where none of that name is installed. Other tools may be called
# by everyday words ("overexposed"), so their names are believed only as they are written, with their underscore.
_TOOLS = (
    "TOPIQ_FR", "TOPIQ_NR", "AHIQ", "FSIM", "LPIPS", "DISTS", "WaDIQaM_FR", "WaDIQaM_NR", "PieAPP", "MS_SSIM", "GMSD",
    "SSIM", "CKDN", "VIF", "PSNR", "VSI", "QAlign", "CLIPIQA", "UNIQUE", "HyperIQA", "TReS", "MUSIQ", "DBCNN",
    "ARNIQA", "NIMA", "BRISQUE", "NIQE", "MANIQA", "LIQE", "ILNIQE", "PIQE", "HaarPSI", "MDSI", "MS_GMSD", "NLPD",
    "MAD", "CW_SSIM", "SR_SIM", "DSS", "VMAF", "SSIMULACRA2", "AIQA_NR", "AIQA_FR",
)  # fmt: skip
# Those of them that are words too.
_WORDS = frozenset(("unique", "mad", "vif", "dists", "tres"))
_REFUSED = LatePattern(
    r"(?:not|n't|never|without|ohne|sin|sans|sem|不要?|别)\s*(?:use|using|使用|用)?\s*(?:the\s+)?$", re.IGNORECASE
)
_ASKED_FOR = LatePattern(
    r"\b(?:use|using|with|by|via|apply|run|through|according to|in terms of|compute|calculate|report|give me)\s+"
    r"(?:the\s+)?(?:metric\s+|tool\s+|model\s+)?(?P<name>[A-Z][A-Za-z0-9]*(?:[-_][A-Za-z0-9]+)*[A-Z0-9][A-Za-z0-9]*)"
    r"|(?:使用|采用|利用|用|通过|计算)\s*(?P<zh>[A-Z][A-Za-z0-9_-]*[A-Z0-9])"
)
_NO_TOOLS = (
    "JSON", "YAML", "XML", "CSV", "HTML", "YES", "NO", "TRUE", "FALSE", "PASS", "FAIL", "ONLY", "JPEG", "JPG", "PNG",
    "RGB", "ISO", "HDR", "IQA", "AI", "VLM", "MOS", "LLM", "OK", "NR", "FR", "GPU", "CPU",
)  # fmt: skip


def named_tool(text: str, available: Iterable[str] = (), *, may_be_unknown: bool = True) -> str | None:
    """The tool a text names, in the spelling of the available ones; an unknown name that is asked for as written.

    Who wants a yes or a no asks for no unknown tool: "Does it comply with ICAO?".
    """
    letters = _letters(text)
    names = sorted(dict.fromkeys([*available, *_TOOLS]), key=len, reverse=True)
    for name in (*names, *(name for name in names if re.search(r"_[FN]R$", name) and not name.startswith("AIQA"))):
        # "TOPIQ" is the first of TOPIQ_FR and TOPIQ_NR.
        for short in dict.fromkeys((name, re.sub(r"_[FN]R$", "", name))):
            if short == "AIQA" or _letters(short) not in letters:
                continue
            is_word = name not in _TOOLS or short.casefold() in _WORDS
            flags = 0 if is_word and "_" not in short else re.IGNORECASE
            gaps = short if is_word else "[-_ ]?".join(map("[-_]?".join, short.split("_")))
            for match in re.finditer(rf"(?<![A-Za-z0-9_-]){gaps}(?![A-Za-z0-9_-])", text, flags):
                if not _REFUSED.search(text[: match.start()]):
                    return name
    for match in _ASKED_FOR.finditer(text) if may_be_unknown else ():
        name = match["name"] or match["zh"]
        if name not in _NO_TOOLS and not _REFUSED.search(text[: match.start("name")]):
            return name
    return None


def _letters(text: str) -> str:
    return re.sub(r"[-_ ]", "", text).casefold()


# The colors a cast is called by, in every language.
_TINTS = {
    "red": r"\bred(?:dish)?\b|\brot\b|röt|rotstich|\broj[oa]|rojiz|\brouge|vermelh|avermelh|红|赤",
    "orange": r"\borang(?:e|ey|ish|y)\b|naranja|anaranj|laranja|alaranj|橙|橘|オレンジ",
    "yellow": r"\byellow|\bgelb|amarill|\bjaun|amarel|黄",
    "green": r"\bgreen|\bgrün|\bverd(?:e|os|âtre)|\bverte?s?\b|esverd|绿|緑",
    "cyan": r"\bcyan|\bteal|turquoise|türkis|turquesa|\bciano|青色|シアン",
    "blue": r"\bblu(?:e|ish|ey|eish)|\bblau|bläul|azul|\bbleu|蓝|青(?!色)",
    "violet": r"\bviolet|\bpurpl|\blila\b|morad[oa]|amorat|rox[oa]|arrox|紫",
    "magenta": r"magenta|\bpink|\brosa|品红|粉|ピンク|マゼンタ",
    "warm": r"\bwarm|cálid|\bchaude?|quentes?\b|暖",
    "cold": r"\bcold|\bcool(?!pix)|\bicy\b|\bkalt|\bkühl|\bfrí[oa]|\bfroide?|\bfri[oa]|冷|寒",
}  # fmt: skip


def tints_in(text: str) -> tuple[str, ...]:
    """The colors a text names."""
    return tuple(tint for tint, words in _TINTS.items() if re.search(words, text.lower()))


_GREY = LatePattern(
    r"gr[ae]y[- ]?scale|black[- ]?(?:and|&)[- ]?white"
    r"|b ?[&/] ?w\b|monochrom|schwarz-?weiß|graustufen|blanco y negro|grises"
    r"|noir et blanc|niveaux de gris|preto e branco|cinza|黑白|灰度|白黒|モノクロ|グレースケール",
    re.IGNORECASE,
)
_COLOUR = LatePattern(r"\bcolou?r|farb|en color|couleur|\bcores\b|彩色|カラー", re.IGNORECASE)


def grey_or_colour(text: str) -> str:
    """Whether a text asks for a picture without colour ("grey"), for one with it ("colour"), or which of the two."""
    grey, colour = bool(_GREY.search(text)), bool(_COLOUR.search(text))
    return "either" if grey == colour else "grey" if grey else "colour"


_SHARPNESS = LatePattern(r"\bsharpness (?=distortion|artifact|artefact)", re.IGNORECASE)


def categories_made_plain(text: str) -> str:
    """The text with "sharpness distortion", the category of too much sharpness, said so that it is no lack of it."""
    return _SHARPNESS.sub("over-sharpening ", text)


# The longer side of DIN papers in inches, and the least of what is printed otherwise: a column, a cover, a poster.
_PAPERS = {"a0": 46.8, "a1": 33.1, "a2": 23.4, "a3": 16.5, "a4": 11.7, "a5": 8.3, "a6": 5.8}
_SMALLEST = {
    r"(?:book|magazine) covers?": 7.0, r"magazin|zeitschrift|revista|revue|杂志|雑誌": 2.2,
    r"postcard|postkarte|postal": 5.8,
    r"poster|póster|plakat|affiche|cartaz|海报|ポスター": 16.5, r"canvas|leinwand|lienzo": 11.7,
}  # fmt: skip
_PAPER = LatePattern(r"(?<![a-z0-9])a[0-6](?![a-z0-9])", re.IGNORECASE)
_LENGTHS = LatePattern(
    r"(\d+(?:[.,]\d+)?)(?: ?[x×*by]+ ?(\d+(?:[.,]\d+)?))? ?(cm|mm|inch(?:es)?|in\b|\"|zoll|pulgadas?|pouces?|polegadas?"
    r"|厘米|公分|英寸|寸|センチ|インチ)",
    re.IGNORECASE,
)
_INCHES = {"cm": 1 / 2.54, "厘米": 1 / 2.54, "公分": 1 / 2.54, "センチ": 1 / 2.54, "mm": 1 / 25.4}
_PER_INCH = LatePattern(r"(\d{2,4}) ?(?:dpi|ppi|ppp|pixels? per inch|per inch|pro zoll)", re.IGNORECASE)


def print_inches(text: str) -> float | None:
    """The longer side, in inches, of the print that a text names; None where it names none.

    >>> print_inches("Can I print this on A3?")
    16.5
    >>> print_inches("Good enough for a magazine?")
    2.2
    """
    sides = [_PAPERS[paper.lower()] for paper in _PAPER.findall(text)]
    for first, second, unit in _LENGTHS.findall(text):
        inches = _INCHES.get(unit.lower(), 1.0)
        sides += [float(length.replace(",", ".")) * inches for length in (first, second) if length]
    named = [inches for words, inches in _SMALLEST.items() if re.search(words, text, re.IGNORECASE)]
    sides = sides or named[:1]
    return max(sides) if sides and max(sides) > 0 else None


def per_inch(text: str) -> float | None:
    """The pixels per inch a text names."""
    found = _PER_INCH.search(text)
    return float(found[1]) if found else None


_PIXELS = LatePattern(
    r"\d{3,5} ?(?:px\b|pixel|píxel|像素|画素|ピクセル)|\b[48]k\b|full[ -]?hd|\b(?:720|1080|1440|2160)p\b", re.IGNORECASE
)


def names_pixels(text: str) -> bool:
    """Whether a text names a number of pixels, or a screen by its number: "1200 pixels wide", "4K"."""
    return bool(_PIXELS.search(text))


# Single words offered as amounts, of which nothing but the list they stand in tells the meaning.
AMOUNTS = {
    **dict.fromkeys((
        "low", "too low", "too little", "not enough", "insufficient", "低", "太低", "过低", "不足", "低すぎる",
        "niedrig", "zu niedrig", "gering", "zu gering", "bajo", "baja", "demasiado bajo", "demasiado baja",
        "insuficiente", "faible", "trop faible", "insuffisant", "insuffisante", "bas", "trop bas", "baixo", "baixa",
        "muito baixo", "muito baixa",
    ), "low"),
    **dict.fromkeys((
        "medium", "中", "mittel", "medio", "media", "moyen", "moyenne", "médio", "média",
    ), "medium"),
    **dict.fromkeys((
        "high", "too high", "too much", "excessive", "高", "太高", "过高", "过度", "高すぎる", "hoch", "zu hoch",
        "zu viel", "alto", "alta", "demasiado alto", "demasiado alta", "excesivo", "excesiva", "élevé", "élevée",
        "trop élevé", "trop élevée", "haut", "excessif", "muito alto", "muito alta", "excessivo", "excessiva",
    ), "high"),
    **dict.fromkeys((
        "none", "无", "keine", "keins", "ninguno", "ninguna", "aucun", "aucune", "nenhum", "なし",
    ), "none"),
}  # fmt: skip
_ABSENT = LatePattern(
    r"\b(?:not|n't) (?:exist|present|there|visible|apply)|\b(?:absent|least)\b|不存在|没有出现"
    r"|nicht (?:vorhanden|vorkommt|vor\b)"
    r"|no (?:está presente|aparece)|n'est pas (?:présent|visible)|não (?:está presente|aparece)|当てはまらない",
    re.IGNORECASE,
)


def asks_for_absent(text: str) -> bool:
    """Whether the option that does not hold is wanted: "Which problem does not exist?"."""
    return bool(_ABSENT.search(text))


_EXCEPT = LatePattern(
    r",?\s*\b(?:except(?:ing)?(?: for)?|apart from|aside from|besides|other than|but for|not counting|leaving aside"
    r"|außer|ausser|abgesehen von|excepto|aparte de|salvo|à part|sauf|hormis|exceto|além d[eao]|tirando)\s+"
    r"(?P<what>[^,;:.?!。，？]+),?|除了?(?P<zh>[^,;.?!。，？]+?)(?:以外|之外|外|，)[，,]?|(?P<ja>[^、。]+?)(?:以外に?|を除けば|を除いて)",
    re.IGNORECASE,
)


def left_out(text: str) -> tuple[str, str | None]:
    """A question without what it leaves out, and the words for that."""
    found = _EXCEPT.search(text)
    rest = f"{text[: found.start()]} {text[found.end() :]}".strip() if found else ""
    if found is None or not rest:
        return text, None
    return re.sub(r"\s+(?=[?.!,])|\s{2,}", "", rest), found["what"] or found["zh"] or found["ja"]


# What is asked for and not measured, as it is called in the reply.
_UNMEASURED = {
    "watermarks": r"water-?mark|wasserzeichen|marcas? de agua|filigrane|marca d.água|水印|透かし",
    "logos": r"\blogo|标志|商标|ロゴ",
    "text in the picture": r"text overlay|caption|subtitle|time-?stamp|untertitel|subtítulo|sous-titre|legenda|字幕",
    "vignetting": r"vignet|viñet|vinhet|randabdunk|暗角|周辺減光",
    "lens flare": r"flare|linsenreflex|光晕|炫光|フレア",
    "red eyes": r"red[- ]?eye|rote augen|ojos rojos|yeux rouges|olhos vermelhos|红眼|赤目",
    "lens distortion": r"barrel|pincushion|perspective distortion|keyston|verzeichnung|畸变|歪曲",
    "artificial origin": r"\bai\b|deep-?fake|photo-?shopped|\bki-|generad[ao] por|générée par|gerad[ao] por|生成",
}  # fmt: skip


def unmeasured_in(text: str) -> str:
    """What a text asks for that nothing here measures."""
    named = (name for name, words in _UNMEASURED.items() if re.search(words, text.lower()))
    return next(named, "the data of the file")


_KEY = LatePattern(
    r"[\"'“]([A-Za-z_][\w -]{0,40})[\"'”]\s*:"
    r"|(?:key|field|键名?|字段|schlüssel|clave|clé|chave|キー)\s*:?\s*[\"'“]?([A-Za-z_]\w*)",
    re.IGNORECASE,
)


def json_key(text: str) -> str:
    """The key under which a JSON answer is wanted."""
    named = _KEY.search(text)
    return (named[1] or named[2]) if named else "answer"


# Common traditional characters and their simplified forms, so that both writings are read alike.
_SIMPLIFIED = str.maketrans(
    "丟並乾亂亙亞佇佈佔併來侖侶侷係俠倀倆倉個們倖倫偉側偵偽傑傖傘備傢傭傯傳債傷傾僅僑僕僥僱價儀儂億儈儉儐儔儕儘償優儲儷儸儻儼兇兌兒兗內兩冊冑冪凍凜凱別刪則剋剎剛剝剴創剷劃劇劉劊劍劑勁動"
    "務勛勝勞勢勣勳勵勸勻匯匱區協卹卻厭厲參叢吒吳吶呂員唸問啞啟喚喪喫喬單喲嗆嗇嗎嗚嗶嘆嘍嘔嘖嘗嘩嘮嘯嘰噓噥噯噴噸噹嚀嚇嚐嚕嚥嚨嚮嚴嚶囀囁囂囈囉囌囑囪國圍園圓圖團執堅堊堝堯報場塊塋塒塗塚"
    "塢塵塹墊墜墮墳墾壇壎壓壘壙壞壟壢壩壯壺壽夠夢夥夾奐奧奩奪奮妝姍姦娛婁婦媧媼媽嫗嫵嫻嬈嬋嬌嬤嬪嬰嬸孃孫學孿宮寢實寧審寫寬寵寶將專尋對導尷屆屍屜屢層屨屬岡峴島峽崑崗崙崢嵐嶄嶇嶔嶸嶺嶼嶽"
    "巒巔巖帥師帳帶幀幃幗幟幣幫幹幾庫廁廂廄廈廚廝廟廠廢廣廬廳弒弔張強彆彈彌彎彙彥彫彿後徑從徠復徵徹恆恥悅悵悶悽惡惱惻愛愜愴愷愾慄態慍慘慚慟慣慫慮慶慼慾憂憊憐憑憚憤憫憮憲憶懇應懍懣懲懶懷"
    "懸懺懼懾戀戰戲戶拋挾捨捫捱捲掃掄掙掛採揀揚換揮損搖搗搶摑摟摯摺摻撈撐撓撥撫撲撳撻撾撿擁擄擇擊擋擔據擠擬擰擱擲擴擷擺擻擾攆攏攔攙攜攝攣攤攪攬敗敘敵數斂斃斕斬斷於昇時晉晝暈暉暘暢暫曄曆"
    "曇曉曖曠曬書會朧朮東枴柵桿梔條梟棄棗棟棧棲楊楓楨業極榦榮構槍槓槨槳樁樂樅樑樓標樞樣樸樹樺橈橋機橢橫檔檜檢檣檮檯檳檸檻櫃櫓櫚櫛櫝櫥櫬櫻欄權欐欖欽歎歐歟歡歲歷歸歿殘殤殮殯殲殺殼毀毆氈氣"
    "氫氬氳氾汎汙決沒沖況洩洶浹涇涼淒淚淨淪淵淺渙減渦測渾湊湧湯準溝溫溼滄滅滌滬滯滲滷滾滿漁漢漣漬漲漸漿潑潔潛潤潯潰澀澆澗澠澤澦澱濁濃濕濘濛濟濤濫濰濱濺濾瀆瀉瀋瀏瀕瀘瀝瀟瀨瀰瀲瀾灑灘灣灤"
    "災為烏無煉煙煥煩煬熒熱熾燈燉燒燙燜營燦燬燭燴燻燼燾爍爐爛爭爺爾牆牘牽犖犛犢犧狀狹狽猙猶獄獅獎獨獰獲獵獷獸獺獻玀現琺琿瑣瑤瑩瑪璣璦環璽璿瓊瓏瓔瓚甌甕產甦畝畢畫異當疇疊痙痠瘋瘍瘓瘡瘧瘺"
    "療癆癒癘癟癡癢癥癩癬癮癱癲發皚皰皺盃盜盞盡監盤盧盪眾睏睜睞瞞瞼矇矓矚矯硃硯碩確碼磚磧磯礎礙礦礪礫礬祕祿禍禎禦禪禮禱禿秈稅稈稜稟種稱穀穌積穎穠穡穢穩穫窩窪窮窯窺竄竅竇竊競筆筍筧箇箋箏"
    "節範築篠篤篩簍簑簞簡簣簫簽簾籃籌籟籠籤籬籮籲粵糝糞糧糰糾紀紂約紅紆紇紉紋納紐純紕紗紙級紛紜紡紮細紱紲紳紹紼絀終絃組絆結絕絛絞絡絢給絨絰統絲絳絹綁綏綑經綜綞綠綢綬維綰綱網綴綵綸綺綻綽"
    "綾綿緇緊緒緘緙線緝緞締緣編緩緬緯緲練緹緻縈縉縊縐縑縛縝縞縣縫縮縯縱縲縴縵縷縹總績繃繅繆繈繒織繕繚繞繡繩繪繫繭繳繹繼繽續纏纓纔纖纜缽罈罌罰罵罷羅羈羋羨義羶習翹聖聞聯聰聲聳聶職聽聾肅脅"
    "脈脣脩脫脹腎腦腫腳腸膚膠膩膽膾膿臉臍臏臘臚臟臢臥臨臺與興舉舊艙艦艱艷芻苧茲荊莊莖莢莧華菴菸萇萊萬萵葉葦葷蒐蒞蒼蓀蓆蓋蓮蔔蔣蔥蔭蕩蕪蕭薊薑薔薦薩薹薺藍藝藥藪藷藹藺蘆蘇蘊蘋蘚蘭蘿處虛虜"
    "號虧蛻蜆蝕蝦蝨蝸螞螢螻蟈蟬蟯蟲蟻蠅蠍蠔蠟蠣蠱蠶蠻術衛衝袞裊補裝裡製複褲褸褻襖襠襤襪襬襯襲見規覓視覦親覬覲覺覽觀觴觸訂訃計訊訌討訏訐訑訓訕訖託記訛訝訟訢訣訥訪設許訴訶診註証詁詆詐詔評"
    "詖詛詞詠詢詣試詩詫詬詭詮詰話該詳詼誅誇誌認誑誕誘誚語誠誡誣誤誥誦誨說誰課誶誹誼調諂諄談諉請諍諒論諛諜諦諧諫諭諮諱諳諶諷諸諺諼諾謀謁謂謄謊謎謐謗謙講謝謠謨謫謬謹譁譆證譎譏識譙譚譜譟譫"
    "譯議譴護譽讀變讒讓讖讚讜豈豎豐豔豬貓貝貞負財貢貧貨販貪貫責貯貲貳貴貶買貸費貼貽貿賀賁賂賃賄賅資賈賊賑賒賓賜賞賠賡賢賣賤賦質賬賭賴賺賻購賽贅贈贊贍贏贓贖贗贛趕趙趨跡踐踴蹕蹟蹣蹤蹺躂躉"
    "躊躋躍躑躓躡躪軀車軋軌軍軏軒軔軛軟軸軻軼軾較載輊輒輓輔輕輛輜輝輞輟輥輦輩輪輯輳輸輻輾輿轂轄轅轉轍轎轔轟轡辦辭辮辯農迴逕這連週進遊運過達違遙遜遞遠適遲遷選遺遼邁還邇邊邏邐郵鄉鄒鄧鄭鄰"
    "鄴酈醃醜醞醣醫醬醱釀釁釅釋釐釗釘釙針釣釦釧釩釵鈇鈉鈍鈐鈑鈔鈕鈞鈣鈴鈷鈸鈹鈽鈾鈿鉀鉅鉉鉋鉍鉑鉗鉚鉛鉤鉸鉻銀銅銑銓銖銘銜銨銬銳銷銻銼鋁鋅鋇鋒鋤鋪鋰鋸鋼錄錐錕錘錙錚錠錡錢錦錨錫錮錯錳錶鍊"
    "鍋鍍鍔鍚鍛鍥鍬鍰鍵鍾鎂鎊鎔鎖鎘鎚鎢鎬鎮鎰鎳鏃鏈鏍鏑鏗鏘鏜鏝鏟鏡鏢鏤鏨鏽鐃鐘鐫鐮鐲鐳鐵鐸鐺鑄鑑鑒鑠鑣鑪鑰鑲鑷鑼鑽鑾鑿長門閂閃閉開閎閏閑閒間閔閘閡閣閤閥閨閩閭閱閻闆闈闊闋闌闐闔闕闖關闡"
    "闢陘陝陞陣陰陳陸陽隊階隕際隨險隱隴隸隻雋雖雙雛雜雞離難雲電霑霧霽靂靄靈靜靦靨鞏鞦韁韃韆韉韋韌韓韜韻響頁頂頃項順須頊頌預頑頒頓頗領頜頡頤頫頭頰頷頸頹頻顆題額顎顏顓願顛類顥顧顫顯顰顱風"
    "颯颱颳颶颺颼飄飛飢飩飪飭飯飲飴飼飽飾餃餅餉養餌餒餓餘餚餛餞餡館餵餾餿饅饉饑饒饗饜饞馬馭馮馱馳馴駁駐駑駒駕駙駛駝駟駢駭駱駿騁騎騖騙騫騰騵騷騾驀驃驅驍驕驗驚驛驟驢驥驪骯髏髒體髖髮鬆鬍鬚"
    "鬢鬥鬧鬨鬱魎魘魚魯魷鮑鮪鮫鮭鮮鯀鯉鯊鯖鯛鯧鯨鯽鰍鰓鰥鰭鰱鰻鰾鱉鱔鱖鱗鱟鱷鱸鳥鳩鳳鳴鳶鴃鴆鴉鴒鴕鴛鴣鴦鴨鴻鴿鵑鵝鵠鵡鵪鵬鵲鶉鶯鶴鷂鷓鷗鷥鷹鷺鸚鸛鸞鹵鹹鹼鹽麗麥麩麴麵麼黃黌點黨黴黷鼕鼴"
    "齊齋齒齜齟齡齣齦齧齪齬齲齷龍龐龔龜",
    "丢并干乱亘亚伫布占并来仑侣局系侠伥俩仓个们幸伦伟侧侦伪杰伧伞备家佣偬传债伤倾仅侨仆侥雇价仪侬亿侩俭傧俦侪尽偿优储俪㑩傥俨凶兑儿兖内两册胄幂冻凛凯别删则克刹刚剥剀创铲划剧刘刽剑剂劲动"
    "务勋胜劳势𪟝勋励劝匀汇匮区协恤却厌厉参丛咤吴呐吕员念问哑启唤丧吃乔单哟呛啬吗呜哔叹喽呕啧尝哗唠啸叽嘘哝嗳喷吨当咛吓尝噜咽咙向严嘤啭嗫嚣呓啰苏嘱囱国围园圆图团执坚垩埚尧报场块茔埘涂冢"
    "坞尘堑垫坠堕坟垦坛埙压垒圹坏垄坜坝壮壶寿够梦伙夹奂奥奁夺奋妆姗奸娱娄妇娲媪妈妪妩娴娆婵娇嬷嫔婴婶娘孙学孪宫寝实宁审写宽宠宝将专寻对导尴届尸屉屡层屦属冈岘岛峡昆岗仑峥岚崭岖嵚嵘岭屿岳"
    "峦巅岩帅师帐带帧帏帼帜币帮干几库厕厢厩厦厨厮庙厂废广庐厅弑吊张强别弹弥弯汇彦雕佛后径从徕复征彻恒耻悦怅闷凄恶恼恻爱惬怆恺忾栗态愠惨惭恸惯怂虑庆戚欲忧惫怜凭惮愤悯怃宪忆恳应懔懑惩懒怀"
    "悬忏惧慑恋战戏户抛挟舍扪挨卷扫抡挣挂采拣扬换挥损摇捣抢掴搂挚折掺捞撑挠拨抚扑揿挞挝捡拥掳择击挡担据挤拟拧搁掷扩撷摆擞扰撵拢拦搀携摄挛摊搅揽败叙敌数敛毙斓斩断于升时晋昼晕晖旸畅暂晔历"
    "昙晓暧旷晒书会胧术东拐栅杆栀条枭弃枣栋栈栖杨枫桢业极干荣构枪杠椁桨桩乐枞梁楼标枢样朴树桦桡桥机椭横档桧检樯梼台槟柠槛柜橹榈栉椟橱榇樱栏权𪲔榄钦叹欧欤欢岁历归殁残殇殓殡歼杀壳毁殴毡气"
    "氢氩氲泛泛污决没冲况泄汹浃泾凉凄泪净沦渊浅涣减涡测浑凑涌汤准沟温湿沧灭涤沪滞渗卤滚满渔汉涟渍涨渐浆泼洁潜润浔溃涩浇涧渑泽滪淀浊浓湿泞蒙济涛滥潍滨溅滤渎泻沈浏濒泸沥潇濑弥潋澜洒滩湾滦"
    "灾为乌无炼烟焕烦炀荧热炽灯炖烧烫焖营灿毁烛烩熏烬焘烁炉烂争爷尔墙牍牵荦牦犊牺状狭狈狰犹狱狮奖独狞获猎犷兽獭献猡现珐珲琐瑶莹玛玑瑷环玺璇琼珑璎瓒瓯瓮产苏亩毕画异当畴叠痉酸疯疡痪疮疟瘘"
    "疗痨愈疠瘪痴痒症癞癣瘾瘫癫发皑疱皱杯盗盏尽监盘卢荡众困睁睐瞒睑蒙眬瞩矫朱砚硕确码砖碛矶础碍矿砺砾矾秘禄祸祯御禅礼祷秃籼税秆棱禀种称谷稣积颖秾穑秽稳获窝洼穷窑窥窜窍窦窃竞笔笋笕个笺筝"
    "节范筑筿笃筛篓蓑箪简篑箫签帘篮筹籁笼签篱箩吁粤糁粪粮团纠纪纣约红纡纥纫纹纳纽纯纰纱纸级纷纭纺扎细绂绁绅绍绋绌终弦组绊结绝绦绞络绚给绒绖统丝绛绢绑绥捆经综缍绿绸绶维绾纲网缀彩纶绮绽绰"
    "绫绵缁紧绪缄缂线缉缎缔缘编缓缅纬缈练缇致萦缙缢绉缣缚缜缟县缝缩𬙂纵缧纤缦缕缥总绩绷缫缪𫄶缯织缮缭绕绣绳绘系茧缴绎继缤续缠缨才纤缆钵坛罂罚骂罢罗羁芈羡义膻习翘圣闻联聪声耸聂职听聋肃胁"
    "脉唇修脱胀肾脑肿脚肠肤胶腻胆脍脓脸脐膑腊胪脏臜卧临台与兴举旧舱舰艰艳刍苎兹荆庄茎荚苋华庵烟苌莱万莴叶苇荤搜莅苍荪席盖莲卜蒋葱荫荡芜萧蓟姜蔷荐萨苔荠蓝艺药薮𫉄蔼蔺芦苏蕴苹藓兰萝处虚虏"
    "号亏蜕蚬蚀虾虱蜗蚂萤蝼蝈蝉蛲虫蚁蝇蝎蚝蜡蛎蛊蚕蛮术卫冲衮袅补装里制复裤褛亵袄裆褴袜摆衬袭见规觅视觎亲觊觐觉览观觞触订讣计讯讧讨𬣙讦𫍙训讪讫托记讹讶讼䜣诀讷访设许诉诃诊注证诂诋诈诏评"
    "诐诅词咏询诣试诗诧诟诡诠诘话该详诙诛夸志认诳诞诱诮语诚诫诬误诰诵诲说谁课谇诽谊调谄谆谈诿请诤谅论谀谍谛谐谏谕咨讳谙谌讽诸谚谖诺谋谒谓誊谎谜谧谤谦讲谢谣谟谪谬谨哗𫍻证谲讥识谯谭谱噪谵"
    "译议谴护誉读变谗让谶赞谠岂竖丰艳猪猫贝贞负财贡贫货贩贪贯责贮赀贰贵贬买贷费贴贻贸贺贲赂赁贿赅资贾贼赈赊宾赐赏赔赓贤卖贱赋质账赌赖赚赙购赛赘赠赞赡赢赃赎赝赣赶赵趋迹践踊跸迹蹒踪跷跶趸"
    "踌跻跃踯踬蹑躏躯车轧轨军𫐄轩轫轭软轴轲轶轼较载轾辄挽辅轻辆辎辉辋辍辊辇辈轮辑辏输辐辗舆毂辖辕转辙轿辚轰辔办辞辫辩农回迳这连周进游运过达违遥逊递远适迟迁选遗辽迈还迩边逻逦邮乡邹邓郑邻"
    "邺郦腌丑酝糖医酱酦酿衅酽释厘钊钉钋针钓扣钏钒钗𫓧钠钝钤钣钞钮钧钙铃钴钹铍钸铀钿钾巨铉铇铋铂钳铆铅钩铰铬银铜铣铨铢铭衔铵铐锐销锑锉铝锌钡锋锄铺锂锯钢录锥锟锤锱铮锭锜钱锦锚锡锢错锰表炼"
    "锅镀锷钖锻锲锹锾键钟镁镑镕锁镉锤钨镐镇镒镍镞链镙镝铿锵镗镘铲镜镖镂錾锈铙钟镌镰镯镭铁铎铛铸鉴鉴铄镳𬬻钥镶镊锣钻銮凿长门闩闪闭开闳闰闲闲间闵闸阂阁合阀闺闽闾阅阎板闱阔阕阑阗阖阙闯关阐"
    "辟陉陕升阵阴陈陆阳队阶陨际随险隐陇隶只隽虽双雏杂鸡离难云电沾雾霁雳霭灵静腼靥巩秋缰鞑千鞯韦韧韩韬韵响页顶顷项顺须顼颂预顽颁顿颇领颌颉颐𫖯头颊颔颈颓频颗题额颚颜颛愿颠类颢顾颤显颦颅风"
    "飒台刮飓飏飕飘飞饥饨饪饬饭饮饴饲饱饰饺饼饷养饵馁饿余肴馄饯馅馆喂馏馊馒馑饥饶飨餍馋马驭冯驮驰驯驳驻驽驹驾驸驶驼驷骈骇骆骏骋骑骛骗骞腾𫘪骚骡蓦骠驱骁骄验惊驿骤驴骥骊肮髅脏体髋发松胡须"
    "鬓斗闹哄郁魉魇鱼鲁鱿鲍鲔鲛鲑鲜鲧鲤鲨鲭鲷鲳鲸鲫鳅鳃鳏鳍鲢鳗鳔鳖鳝鳜鳞鲎鳄鲈鸟鸠凤鸣鸢𫛞鸩鸦鸰鸵鸳鸪鸯鸭鸿鸽鹃鹅鹄鹉鹌鹏鹊鹑莺鹤鹞鹧鸥鸶鹰鹭鹦鹳鸾卤咸碱盐丽麦麸曲面么黄黉点党霉黩冬鼹"
    "齐斋齿龇龃龄出龈啮龊龉龋龌龙庞龚龟",
)
