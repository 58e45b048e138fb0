"""Engine cost on real trees: CPU time of a whole run, as a ratio to ``libcst.parse_module`` of the candidate files.

    python benchmarks/engine.py TREE [TREE ...]

Candidates are the Python files that hold a keyword of some rule. The start of the process (importing LibCST, reading
the rules and the target) is on neither side. Both run in this process, one after the other, several times;
the smallest ratio of neighbours is printed with the median, so that a noisy machine does not decide.
"""

from __future__ import annotations

import argparse
import contextlib
import resource
import statistics
import sys
import time
from pathlib import Path

import libcst as cst

from npu_migrate import packs
from npu_migrate.engine import scan
from npu_migrate.engine.rules import ActiveRules
from npu_migrate.engine.run import migrate
from npu_migrate.engine.settings import Settings
from npu_migrate.target import load


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("tree", nargs="+", type=Path)
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    settings = Settings(target=load(), registry=packs.load())
    print(f"{'tree':24}{'candidates':>11}{'parse s':>9}{'run s':>9}{'ratio':>8}{'median':>8}")
    for tree in options.tree:
        print(row(tree, settings, options.rounds))
    scale = 1 if sys.platform == "darwin" else 1024
    print(f"peak memory {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * scale / 2**20:.0f} MiB")


def row(tree: Path, settings: Settings, rounds: int) -> str:
    keywords = ActiveRules(settings.registry.all()).keywords()
    found = scan.candidates((entry for entry in scan.scan(tree) if entry.kind == "python"), keywords)
    candidates = [candidate.data for candidate in found]
    pairs = [(parse_all(candidates), run_all(tree, settings)) for _ in range(rounds)]
    ratios = [run / parse for parse, run in pairs]
    parse, run = min(p for p, _ in pairs), min(r for _, r in pairs)
    return f"{tree.name:24}{len(candidates):11}{parse:9.2f}{run:9.2f}{min(ratios):8.2f}{statistics.median(ratios):8.2f}"


def parse_all(candidates: list[bytes]) -> float:
    start = time.process_time()
    for data in candidates:
        with contextlib.suppress(cst.ParserSyntaxError, UnicodeDecodeError):
            cst.parse_module(data)
    return time.process_time() - start


def run_all(tree: Path, settings: Settings) -> float:
    start = time.process_time()
    for _ in migrate([tree], settings):
        pass
    return time.process_time() - start


if __name__ == "__main__":
    main()
