"""Rebuilds the facts about one torch_npu release from its wheel and torch's own operator list (a maintainer's tool)."""
