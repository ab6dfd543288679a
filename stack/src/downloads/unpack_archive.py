"""Unpacks with Python's own library, because tar and unzip are not on every machine.

unpack_archive.py tar <archive.tar.gz> <folder>
unpack_archive.py member <archive.zip> <end of the member's name> <file>
"""

import shutil
import sys
import tarfile
import zipfile

kind, archive, *rest = sys.argv[1:]
if kind == "tar":
    with tarfile.open(archive) as tar:
        # The filter (refuses paths that leave the folder) came with 3.12 and was given to later 3.10 and 3.11 as well.
        safe = {"filter": "data"} if hasattr(tarfile, "data_filter") else {}
        tar.extractall(rest[0], **safe)
elif kind == "member":
    with zipfile.ZipFile(archive) as package:
        (name,) = [name for name in package.namelist() if name.endswith(rest[0])]
        with package.open(name) as source, open(rest[1], "wb") as target:
            shutil.copyfileobj(source, target)
else:
    sys.exit(f"unknown kind {kind}")
