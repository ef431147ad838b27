"""The networks we ship and the features they give.

`load_backbone().features(pixels)` gives `Features`: the maps after five stages of the shared trunk
(`maps[0]` is the finest) and their pooled statistics. `weights/manifest.json` lists every weight
file with its hash; nothing is run whose hash differs.
"""
