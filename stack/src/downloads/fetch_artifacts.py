"""Downloads Maven artifacts with jgo, several at a time, and reports progress as one JSON document a line.

stdin: {"repository": folder, "artifacts": [{group, artifact, version, packaging, classifier}]}
stdout: {"bytes": n} after each chunk's worth of progress; the caller checks sizes and hashes itself.
Run with PYTHONPATH on a folder that holds jgo.
"""

import contextlib
import json
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
                sys.exit(f"{wanted['group']}:{wanted['artifact']}:{wanted['version']}: {error}")
            time.sleep(2**attempt)


def main():
    order = json.load(sys.stdin)
    resolver = PythonResolver(progress_callback=progress)
    context = MavenContext(resolver=resolver, repo_cache=Path(order["repository"]), timeout=60)
    with ThreadPoolExecutor(6) as pool:
        for done in [pool.submit(fetch, context, wanted) for wanted in order["artifacts"]]:
            done.result()
    report(0, flush=True)


main()
