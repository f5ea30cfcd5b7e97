"""Definitions of factor models: which objective is lowest at the factors that an implementation learnt.

Each hypothesis about the objective gives an equation for the factors: the exact solution for one side (alternating
least squares), the step against the gradient, the multiplicative update, or a gradient that is zero. The hypothesis
whose equation holds is the objective; the numbers in it, such as the weight of the penalty, follow from the equations.
"""
