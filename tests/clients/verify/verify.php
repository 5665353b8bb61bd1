<?php
// Verify webhook requests. `php verify.php REQUESTS KEYS` reads requests from a JSON file and
// prints, as JSON, whether each is accepted; KEYS is the shop's key set, a URL or a file.

declare(strict_types=1);

// --8<-- [start:jws]
/** Throw unless the shop signed $body, the bytes as they arrived (php://input). */
function verifyWithKeySet(string $body, array $headers, string $keySetUrl): void
{
    [$head, , $signature] = explode('.', $headers['saleor-signature']);
    $claims = json_decode(decodeBase64Url($head), true);
    if (($claims['alg'] ?? '') !== 'RS256' || ($claims['b64'] ?? true) !== false) {
        throw new RuntimeException('Expected RS256 and an unencoded payload');
    }
    $keys = json_decode(file_get_contents($keySetUrl), true)['keys'];
    $jwk = array_column($keys, null, 'kid')[$claims['kid']] ?? throw new RuntimeException('Unknown key');
    $valid = openssl_verify("$head.$body", decodeBase64Url($signature), publicKey($jwk), OPENSSL_ALGO_SHA256);
    if ($valid !== 1) {
        throw new RuntimeException('The signature does not match');
    }
}

/** The PEM text of an RSA key in a key set. */
function publicKey(array $jwk): string
{
    $numbers = array_map(function (string $name) use ($jwk): string {
        $bytes = decodeBase64Url($jwk[$name]);
        return der(0x02, (ord($bytes[0]) > 127 ? "\0" : '') . $bytes);
    }, ['n', 'e']);
    $rsa = hex2bin('300d06092a864886f70d0101010500');
    $key = der(0x30, $rsa . der(0x03, "\0" . der(0x30, implode($numbers))));
    return "-----BEGIN PUBLIC KEY-----\n" . chunk_split(base64_encode($key), 64, "\n") . "-----END PUBLIC KEY-----\n";
}

function der(int $tag, string $content): string
{
    $length = strlen($content);
    $size = $length < 128 ? chr($length) : ltrim(pack('N', $length), "\0");
    return chr($tag) . ($length < 128 ? '' : chr(0x80 | strlen($size))) . $size . $content;
}

function decodeBase64Url(string $text): string
{
    return base64_decode(strtr($text, '-_', '+/'));
}
// --8<-- [end:jws]

// --8<-- [start:hmac]
/** Throw unless the body was signed with the webhook's secret. */
function verifyWithSecret(string $body, array $headers, string $secret): void
{
    if (!hash_equals(hash_hmac('sha256', $body, $secret), $headers['saleor-signature'])) {
        throw new RuntimeException('The signature does not match');
    }
}
// --8<-- [end:hmac]

// --8<-- [start:standard]
/** Throw unless ID, time and body were signed with the secret, at most five minutes ago. */
function verifyStandardWebhook(string $body, array $headers, string $secret): void
{
    ['webhook-id' => $id, 'webhook-timestamp' => $time] = $headers;
    if (abs(time() - (int) $time) > 300) {
        throw new RuntimeException('The request is too old');
    }
    $key = base64_decode(substr($secret, strlen('whsec_')));
    $expected = 'v1,' . base64_encode(hash_hmac('sha256', "$id.$time.$body", $key, true));
    foreach (explode(' ', $headers['webhook-signature']) as $signature) {
        if (hash_equals($expected, $signature)) {
            return;
        }
    }
    throw new RuntimeException('The signature does not match');
}
// --8<-- [end:standard]

$verdicts = [];
foreach (json_decode(file_get_contents($argv[1]), true) as $case) {
    try {
        match ($case['scheme']) {
            'jws' => verifyWithKeySet($case['body'], $case['headers'], $argv[2]),
            'hmac' => verifyWithSecret($case['body'], $case['headers'], $case['secret']),
            'standard' => verifyStandardWebhook($case['body'], $case['headers'], $case['secret']),
        };
        $verdicts[] = 'accepted';
    } catch (RuntimeException $error) {
        $verdicts[] = 'refused: ' . $error->getMessage();
    }
}
echo json_encode($verdicts);
