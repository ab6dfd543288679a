<?php

/** Throws unless the delivery is authentic and fresh. $body: php://input as it is. */
function verify(string $body, array $headers, string $secret): void
{
    $timestamp = $headers['webhook-timestamp'] ?? '';
    $isFresh = preg_match('/^\d{1,12}$/D', $timestamp) && abs(time() - (int) $timestamp) <= 300;
    $key = str_starts_with($secret, 'whsec_') ? base64_decode(substr($secret, 6)) : $secret;
    $signed = ($headers['webhook-id'] ?? '') . ".$timestamp.$body";
    $expected = 'v1,' . base64_encode(hash_hmac('sha256', $signed, $key, true));
    foreach (explode(' ', $headers['webhook-signature'] ?? '') as $given) {
        if ($isFresh && hash_equals($expected, $given)) {
            return;
        }
    }
    throw new RuntimeException('The delivery is not authentic, or too old');
}

/** Throws unless the body is authentic. It does not check the time. */
function verifyBody(string $body, array $headers, string $secret): void
{
    $expected = 'sha256=' . hash_hmac('sha256', $body, $secret);
    foreach (['x-service-signature', 'x-service-signature-previous'] as $name) {
        if (hash_equals($expected, $headers[$name] ?? '')) {
            return;
        }
    }
    throw new RuntimeException('The delivery is not authentic');
}
