"""Each three arguments are a check, a secret and a file with a delivery; each gives one line."""

import sys
from pathlib import Path

import webhooks

CHECKS = {"verify": webhooks.verify, "verifyBody": webhooks.verify_body}
arguments = sys.argv[1:]
while arguments:
    check, secret, file, *arguments = arguments
    head, body = Path(file).read_bytes().split(b"\r\n\r\n", 1)
    headers = dict(line.split(": ", 1) for line in head.decode("latin-1").split("\r\n"))
    try:
        CHECKS[check](body, headers, secret)
        print("authentic")
    except ValueError as error:
        print(f"refused: {error}")
