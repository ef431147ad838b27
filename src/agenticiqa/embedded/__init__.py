"""The model without a network: what it sees of a picture, and what it answers from that.

In the order in which a picture goes through it: `trunk` turns pixels into features; from these `quality/` gives the
score, `distortions/` the flaws, and `full_reference/` the judgement of a pair; `objects/` finds things and faces, and
`regions/` says where they are and how sharp each part is. `combined_models` puts all that into one `Look` (`findings`);
`corrections` lists what may change a finding of a pair, a part or a thing. `answers/` gathers the looks that a question
needs, answers from them and gives the reasons, and `client` is the door through which the agent asks.
"""
