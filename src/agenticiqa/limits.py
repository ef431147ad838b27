"""From where on a distortion is there, slight, moderate or severe, and a thing blurred: every limit once, with source.

Probabilities lie between 0 and 1. A strength is the loss on the scale of 1 to 5, 0 (none) to 4 (extreme). Softness is
the blur of an edge in pixels at working size, 512 × 512 in area (`embedded/regions/sharpness.py`).
"""

# Presence. One half, because a probability says how often a finding of this kind is right: the curves are fitted so.
PRESENT = 0.5
# What the rules of agreement in `values.Distortion` put below it.
MOST_WHILE_ABSENT = 0.49
# From this probability on a severe flaw beside a good score is told as a doubt about one of them. Set, not fitted.
CERTAIN = 0.8

# Severity. Halves, as levels are rounded: the words are the five levels of the documents.
SLIGHT, MODERATE, SEVERE, STRONGEST = 0.5, 1.5, 2.5, 4.0
# Of what is not there: below slight by this much at least, so that calm pictures still rank.
BELOW_SLIGHT = 0.02
# A score from here on is Good.
GOOD = 3.5

# Blur, as softness. A part of a picture is soft beside another that is this many times sharper: of 57 photographs
# sharp all over none has such a part (docs/objects.md). The same ratio tells a soft background.
SOFT_PART, TIMES_SOFTER = 1.05, 1.4
# A background is soft from here on where some part of the picture is so many times sharper.
SOFT_BACKGROUND = 1.1
# Edges of a thing are in focus below the first and blurred above the second; between them the model of whole pictures
# decides. Sharper ones for a face at its own size (docs/objects.md has the faces they were chosen on).
IN_FOCUS, BLURRED, BLURRED_FACE = 0.95, 1.25, 1.1
# Blur as a radius in pixels of the picture: a place is seen to be soft from here on, what is in focus stays below .5.
SOFT_RADIUS = 1.5
# Blur as the share of neighbour differences that a further strong blur removes: in crisp and in thoroughly soft cells
# of the map of softness.
CRISP_SHARE, SOFT_SHARE = 0.72, 0.32
