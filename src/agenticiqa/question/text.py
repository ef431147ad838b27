"""The text of a question: signs made uniform, its language, its tokens and, for each, the numbers of its parts."""

from __future__ import annotations

import re
import unicodedata
import zlib
from collections.abc import Iterable
from functools import lru_cache

from agenticiqa.question.late_pattern import LatePattern
from agenticiqa.values import Language as Language

BUCKETS = 8192
"""How many numbers there are for parts of words; different parts may share one."""
LONGEST = 64
"""Of a longer text the two ends are kept: they hold the question."""
_CJK = r"\u3040-\u30ff\u3400-\u9fff"
_TOKEN = LatePattern(rf"[{_CJK}]|[^\W\d_{_CJK}]+(?:'[^\W\d_{_CJK}]+)?|\d+(?:[.,]\d+)?|\n|[^\s\w]|_")
_SIGNS = str.maketrans(
    {"’": "'", "‘": "'", "“": '"', "”": '"', "。": ".", "、": ",", "–": "-", "—": "-", "−": "-", "「": '"', "」": '"'}
)
_QUOTES = str.maketrans("‘’“”`", "''\"\"'")
_NOT = LatePattern(r"\b(is|are|was|were|do|does|did|has|have|had|could|would|should|ca|wo|ai|must|need)n'?t\b")
_SPACE = LatePattern(r"[^\S\n]+")
NOT = "not'"
"""The token of a contracted "not"."""


def tokens(text: str) -> list[str]:
    """Words, single Chinese and Japanese characters, numbers and signs, in lower case and simplified writing."""
    found = _TOKEN.findall(plain_text(text))
    return found if len(found) <= LONGEST else found[: LONGEST // 2] + found[-LONGEST // 2 :]


def plain_text(text: str) -> str:
    """The text in lower case, in simplified writing, with uniform signs and "isn't" as "is not'"."""
    plain = unicodedata.normalize("NFKC", text).translate(_SIGNS).lower().strip().translate(_SIMPLIFIED)
    return _NOT.sub(rf"\1 {NOT}", _SPACE.sub(" ", plain))


def parts(words: list[str]) -> list[list[int]]:
    """For each token the numbers of the word, of its letter groups and, for a character, of its neighbours."""
    return [[*_word_parts(word), *_neighbours(words, place)] for place, word in enumerate(words)] or [[number_of("^")]]


@lru_cache(maxsize=20_000)
def _word_parts(word: str) -> tuple[int, ...]:
    numbers = [number_of("=" + word)]
    if word.isalpha() and len(word) > 2:
        marked = f"<{word}>"
        numbers += [number_of(marked[i : i + n]) for n in (3, 4, 5) for i in range(len(marked) - n + 1)]
    elif word[0].isdigit():
        numbers.append(number_of("<number>"))
    return tuple(numbers)


def _neighbours(words: list[str], place: int) -> list[int]:
    word = words[place]
    if not _is_character(word):
        return []
    before = words[place - 1] if place else "^"
    after = words[place + 1] if place + 1 < len(words) else "$"
    numbers = [number_of("b" + before + word), number_of("a" + word + after)]
    if _is_character(before) and _is_character(after):
        numbers.append(number_of("t" + before + word + after))
    return numbers


def _is_character(word: str) -> bool:
    return "\u3040" <= word[0] <= "\u9fff"


def number_of(part: str, buckets: int = BUCKETS) -> int:
    """The number of a part, the same on every machine; different parts may share one."""
    return zlib.crc32(part.encode("utf-8", "surrogatepass")) % buckets


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


def normalise(text: str) -> str:
    """The text with full-width signs, curly quotes and line ends made plain; letters keep their case."""
    plain = unicodedata.normalize("NFKC", text).translate(_QUOTES)
    return re.sub(r"[ \t\r\f\v]+", " ", plain).strip()


def written_language(text: str, read_as: Language) -> Language:
    """The language a text was read as, or English where its writing speaks against it: "?" is not Chinese."""
    is_spaceless = bool(re.search(rf"[{_CJK}]", text))
    has_words = bool(re.search(r"[^\W\d_]*[^\W\d_A-Z][^\W\d_]*", text))
    return read_as if is_spaceless or (has_words and read_as not in ("zh", "ja")) else "en"


def masked(text: str, spans: Iterable[tuple[int, int]], sign: str = " ") -> str:
    """The text with every letter inside the spans replaced by the sign."""
    letters = list(text)
    for start, end in spans:
        letters[start:end] = sign * (end - start)
    return "".join(letters)
