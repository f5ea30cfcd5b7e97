"""Reference algorithms: each one file, after the paper it cites, with nothing between the formula and the score.

All of them keep three promises. Same training rows and seed, same bits, in whatever order the rows come. A score
does not depend on which other users and items are asked for in the same call. And a pair that the algorithm knows
nothing about (an item without training rows; for personalised methods, a user without any) is *unscored*, never
given a made-up number.
"""
