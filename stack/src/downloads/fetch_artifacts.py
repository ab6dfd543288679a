"""Downloads Maven artifacts with jgo, several at a time, and reports progress as one JSON document a line.

stdin: one line, {"repository": folder, "artifacts": [{group, artifact, version, packaging, classifier}]}; closing it ends this program
stdout: {"bytes": n} about every half megabyte; the caller checks sizes and hashes itself
Run with PYTHONPATH on a folder that holds jgo.
"""

import contextlib
import json
import os
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from jgo.maven import MavenContext, PythonResolver

ATTEMPTS = 4
REPORT_EVERY_BYTES = 512 * 1024

lock = threading.Lock()
unreported = 0


def report(count, flush=False):
    global unreported
    with lock:
        unreported += count
        if unreported >= REPORT_EVERY_BYTES or (flush and unreported):
            print(json.dumps({"bytes": unreported}), flush=True)
            unreported = 0


@contextlib.contextmanager
def progress(_name, _size):
    yield report


def end_with_caller():
    sys.stdin.read()
    os._exit(1)


def fetch(context, wanted):
    component = context.project(wanted["group"], wanted["artifact"]).at_version(wanted["version"])
    artifact = component.artifact(classifier=wanted["classifier"], packaging=wanted["packaging"])
    for attempt in range(1, ATTEMPTS + 1):
        try:
            artifact.resolve()
            return
        except Exception as error:
            # jgo writes straight to the final name: what an error left there is half a file.
            if artifact.cached_path is not None:
                artifact.cached_path.unlink(missing_ok=True)
            if attempt == ATTEMPTS:
                raise RuntimeError(f"{wanted['artifact']} {wanted['version']}: {error}") from error
            time.sleep(2**attempt)


def main():
    order = json.loads(sys.stdin.readline())
    threading.Thread(target=end_with_caller, daemon=True).start()
    context = MavenContext(
        resolver=PythonResolver(progress_callback=progress), repo_cache=Path(order["repository"]), timeout=60
    )
    with ThreadPoolExecutor(6) as pool:
        for done in [pool.submit(fetch, context, wanted) for wanted in order["artifacts"]]:
            done.result()
    report(0, flush=True)
    # Not the usual way out: the thread that still reads stdin would hold it up.
    sys.stdout.flush()
    os._exit(0)


try:
    main()
except Exception as error:
    print(error, file=sys.stderr, flush=True)
    os._exit(1)
