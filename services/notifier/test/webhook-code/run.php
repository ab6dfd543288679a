<?php

// Each three arguments are a check, a secret and a file with a delivery; each gives one line.
require __DIR__ . '/webhooks.php';

foreach (array_chunk(array_slice($argv, 1), 3) as [$check, $secret, $file]) {
    [$head, $body] = explode("\r\n\r\n", file_get_contents($file), 2);
    $headers = [];
    foreach (explode("\r\n", $head) as $line) {
        [$name, $value] = explode(': ', $line, 2);
        $headers[$name] = $value;
    }
    try {
        $check($body, $headers, $secret);
        echo "authentic\n";
    } catch (RuntimeException $refusal) {
        echo 'refused: ' . $refusal->getMessage() . "\n";
    }
}
