"""Recognises model code by what it computes: activations, pools, convolutions, training loops. Pure ``ast``."""
