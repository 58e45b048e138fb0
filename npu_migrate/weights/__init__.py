"""Carries checkpoints over to rewritten models. The only part of the tool that computes with PyTorch."""
