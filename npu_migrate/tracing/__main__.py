"""``python -m npu_migrate.tracing SETTINGS``: the process of a traced program, from its first moment."""

from __future__ import annotations

import os
import sys

INTERRUPTED = 130

if __name__ == "__main__":
    try:
        from npu_migrate.tracing.child import main

        code = main(sys.argv[1])
    except KeyboardInterrupt:  # while torch was loading: nothing has run
        code = INTERRUPTED
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code)  # threads that the program left behind would keep the process alive
