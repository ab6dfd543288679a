import base64
import hashlib
import hmac
import time


def verify(body: bytes, headers: dict[str, str], secret: str) -> None:
    """Raises ValueError unless the delivery is authentic and fresh."""
    message_id, timestamp = headers.get("webhook-id", ""), headers.get("webhook-timestamp", "")
    is_fresh = timestamp.isdecimal() and abs(time.time() - int(timestamp)) <= 300
    key = base64.b64decode(secret[6:] + "==") if secret.startswith("whsec_") else secret.encode()
    digest = hmac.digest(key, f"{message_id}.{timestamp}.".encode() + body, hashlib.sha256)
    expected = b"v1," + base64.b64encode(digest)
    given = headers.get("webhook-signature", "").encode().split(b" ")
    if not is_fresh or not any(hmac.compare_digest(one, expected) for one in given):
        raise ValueError("The delivery is not authentic, or too old")


def verify_body(body: bytes, headers: dict[str, str], secret: str) -> None:
    """Raises ValueError unless the body is authentic. It does not check the time."""
    expected = "sha256=" + hmac.new(secret.encode(), body, hashlib.sha256).hexdigest()
    given = [headers.get(name, "").encode() for name in ("x-service-signature", "x-service-signature-previous")]
    if not any(hmac.compare_digest(one, expected.encode()) for one in given):
        raise ValueError("The delivery is not authentic")
