/**
 * Forbidden URLs in the forms that attackers use: published vulnerabilities of similar webhook senders, and examples
 * from guides on SSRF. Names resolve as in VECTOR_DNS. Tests run each URL through the policy and through the client.
 */
export interface Vector {
  readonly name: string
  readonly url: string
  /** The expected reason of the refusal. */
  readonly reason: string
}

const literal = (name: string, host: string): Vector => ({ name, url: `https://${host}/`, reason: 'literal_address' })
const resolved = (name: string, host: string): Vector => ({ name, url: `https://${host}/`, reason: 'resolved_address' })
const refused = (name: string, url: string, reason: string): Vector => ({ name, url, reason })

export const BLOCKED_URLS: readonly Vector[] = [
  // IPv4 literals in all spellings that the URL parser accepts.
  literal('loopback', '127.0.0.1'),
  literal('loopback elsewhere in its network', '127.8.9.10'),
  literal('loopback in short form', '127.1'),
  literal('loopback in octal', '0177.0.0.1'),
  literal('loopback in hexadecimal', '0x7f.1'),
  literal('loopback as one number', '2130706433'),
  literal('loopback as one hexadecimal number', '0x7f000001'),
  literal('loopback in fullwidth digits', '１２７.０.０.１'),
  literal('loopback percent-encoded', '127%2e0%2e0%2e1'),
  literal('loopback with a trailing dot', '127.0.0.1.'),
  literal('loopback with an ideographic full stop', '127。0。0。1'),
  literal('the unspecified address', '0.0.0.0'),
  literal('the unspecified address as a zero', '0'),
  literal('this network', '0.1.2.3'),
  literal('private 10/8', '10.0.0.1'),
  literal('private 172.16/12', '172.31.255.254'),
  literal('private 192.168/16', '192.168.1.1'),
  literal('carrier-grade NAT', '100.64.0.1'),
  literal('Alibaba metadata', '100.100.100.200'),
  literal('AWS, GCP and Azure metadata', '169.254.169.254'),
  literal('metadata as one number', '2852039166'),
  literal('ECS task metadata', '169.254.170.2'),
  literal('Azure wire server, which is public unicast', '168.63.129.16'),
  literal('Oracle metadata', '192.0.0.192'),
  literal('link-local', '169.254.1.1'),
  literal('IETF protocol assignments', '192.0.0.1'),
  literal('documentation 192.0.2/24', '192.0.2.1'),
  literal('documentation 198.51.100/24', '198.51.100.1'),
  literal('documentation 203.0.113/24', '203.0.113.1'),
  literal('6to4 relay anycast', '192.88.99.1'),
  literal('benchmarking', '198.18.0.1'),
  literal('multicast', '224.0.0.1'),
  literal('reserved class E', '240.0.0.1'),
  literal('broadcast', '255.255.255.255'),
  // IPv6 literals, including all forms that contain an IPv4 address.
  literal('IPv6 loopback', '[::1]'),
  literal('IPv6 loopback written out', '[0:0:0:0:0:0:0:1]'),
  literal('the unspecified IPv6 address', '[::]'),
  literal('mapped loopback, dotted', '[::ffff:127.0.0.1]'),
  literal('mapped loopback, hexadecimal', '[::ffff:7f00:1]'),
  literal('mapped metadata', '[::ffff:a9fe:a9fe]'),
  literal('compatible loopback', '[::127.0.0.1]'),
  literal('compatible metadata', '[::a9fe:a9fe]'),
  literal('translated loopback (RFC 6145)', '[::ffff:0:127.0.0.1]'),
  literal('NAT64 loopback', '[64:ff9b::7f00:1]'),
  literal('NAT64 metadata', '[64:ff9b::169.254.169.254]'),
  literal('local NAT64', '[64:ff9b:1::7f00:1]'),
  literal('6to4 loopback', '[2002:7f00:1::]'),
  literal('6to4 private', '[2002:a00:1::1]'),
  literal('Teredo', '[2001:0:7f00:1::1]'),
  literal('ISATAP loopback behind a public prefix', '[2606:4700::5efe:7f00:1]'),
  literal('ISATAP with the universal bit', '[2606:4700::200:5efe:7f00:1]'),
  literal('unique local', '[fd00::1]'),
  literal('AWS metadata over IPv6', '[fd00:ec2::254]'),
  literal('GCP metadata over IPv6', '[fd20:ce::254]'),
  literal('IPv6 link-local', '[fe80::1]'),
  literal('site-local', '[fec0::1]'),
  literal('IPv6 multicast', '[ff02::1]'),
  literal('discard only', '[100::1]'),
  literal('IPv6 documentation', '[2001:db8::1]'),
  literal('newer IPv6 documentation', '[3fff::1]'),
  literal('segment routing', '[5f00::1]'),
  literal('ORCHID', '[2001:20::1]'),
  // Names.
  resolved('a name of loopback', 'loopback.example.com'),
  resolved('a name of a private address', 'private.example.com'),
  resolved('a name with one public and one private address', 'mixed.example.com'),
  resolved('a name with the private address first', 'mixed-first.example.com'),
  resolved('a name whose alias leads inside', 'alias.example.com'),
  resolved('a name of a mapped IPv6 address', 'mapped.example.com'),
  resolved('a name of a compatible IPv6 address', 'compatible.example.com'),
  resolved('a name of NAT64', 'nat64.example.com'),
  resolved('a name of the metadata service', 'metadata.example.com'),
  resolved('a name with an interface in its address', 'scoped.example.com'),
  resolved('a name whose answer is no address', 'nonsense.example.com'),
  refused('localhost', 'https://localhost/', 'host_name'),
  refused('localhost with a trailing dot', 'https://localhost./', 'host_name'),
  refused('a name below localhost', 'https://app.localhost/', 'host_name'),
  refused('localhost with two trailing dots', 'https://localhost../', 'host_name'),
  refused('loopback with two trailing dots', 'https://127.0.0.1../', 'host_name'),
  refused('a name with an empty label', 'https://public..example.com/', 'host_name'),
  refused('a name that begins with a dot', 'https://.example.com/', 'host_name'),
  refused('localhost in capitals', 'https://LOCALHOST/', 'host_name'),
  refused('a name without a dot', 'https://intranet/', 'host_name'),
  refused('GCP metadata by name', 'https://metadata.google.internal/', 'host_name'),
  refused('GCP metadata by name with a trailing dot', 'https://metadata.google.internal./', 'host_name'),
  refused('multicast DNS', 'https://printer.local/', 'host_name'),
  refused('a Kubernetes service', 'https://kubernetes.default.svc/', 'host_name'),
  refused('a Kubernetes service in full', 'https://kubernetes.default.svc.cluster.local/', 'host_name'),
  refused('a home network', 'https://router.home.arpa/', 'host_name'),
  refused('the suffix of home networks itself', 'https://home.arpa/', 'host_name'),
  refused('an onion service', 'https://abcdefgh.onion/', 'host_name'),
  // Other parts of the URL.
  refused('plain http', 'http://public.example.com/', 'scheme'),
  refused('a file', 'file:///etc/passwd', 'scheme'),
  refused('gopher', 'gopher://public.example.com/', 'scheme'),
  refused('a user name', 'https://admin@public.example.com/', 'credentials'),
  refused('a host hidden behind a user name', 'https://public.example.com@127.0.0.1/', 'credentials'),
  refused('a fragment', 'https://public.example.com/#@127.0.0.1', 'fragment'),
  refused('an empty fragment', 'https://public.example.com/#', 'fragment'),
  refused('the port of ssh', 'https://public.example.com:22/', 'port'),
  refused('the port of plain http', 'https://public.example.com:80/', 'port'),
  refused('a backslash before the real host', 'https://public.example.com\\@127.0.0.1/', 'malformed'),
  refused('a line break in the host', 'https://public.exa\nmple.com/', 'malformed'),
  refused('a header after the path', 'https://public.example.com/ HTTP/1.1\r\nX: y', 'malformed'),
  refused('an interface in a literal', 'https://[fe80::1%25eth0]/', 'malformed'),
  refused('no URL at all', 'not a url', 'malformed'),
  refused('a URL that is too long', `https://public.example.com/${'a'.repeat(2048)}`, 'too_long'),
]

/** Public addresses. No test connects to them. */
export const PUBLIC_V4 = '93.184.215.14'
const PUBLIC_V6 = '2606:4700::6810:85e5'

/** The answers of the tests' resolver. */
export const VECTOR_DNS: Readonly<Record<string, readonly string[]>> = {
  'public.example.com': [PUBLIC_V4, PUBLIC_V6],
  'loopback.example.com': ['127.0.0.1'],
  'private.example.com': ['10.1.2.3'],
  'mixed.example.com': [PUBLIC_V4, '10.1.2.3'],
  'mixed-first.example.com': ['127.0.0.1', PUBLIC_V4],
  'alias.example.com': ['192.168.7.7'],
  'mapped.example.com': ['::ffff:127.0.0.1'],
  'compatible.example.com': ['::7f00:1'],
  'nat64.example.com': ['64:ff9b::a9fe:a9fe'],
  'metadata.example.com': ['169.254.169.254'],
  'scoped.example.com': ['fe80::1%eth0'],
  'nonsense.example.com': ['not-an-address'],
}
