/** Mutation tests of the guarded HTTP client: if any guard is removed, a test must fail. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { expect, test, vi } from 'vitest'

const mutants = [
  // The three checks of a connection.
  {
    name: 'literals are connected to',
    file: 'connector.ts',
    from: "if (!isLiteral || checks.has('literal')) {",
    to: 'if (!isLiteral) {',
  },
  {
    name: 'URLs are not judged before a request',
    file: 'egress.ts',
    from: "if (verdict.kind === 'refused' && policyRuns) throw",
    to: 'if (false) throw',
  },
  {
    name: 'what a name resolves to is not looked at',
    file: 'connector.ts',
    from: 'if (!answers.every(answer => permitted(answer.address)))',
    to: 'if (false)',
  },
  {
    name: 'one public address makes the others good',
    file: 'connector.ts',
    from: 'if (!answers.every(answer => permitted',
    to: 'if (!answers.some(answer => permitted',
  },
  {
    name: 'the socket is not looked at when it is handed over',
    file: 'connector.ts',
    from: 'if (socketPermitted(connected)) return',
    to: 'if (connected) return',
  },
  {
    name: 'the socket is not looked at before TLS begins',
    file: 'connector.ts',
    from: 'if (!socketPermitted(socket)) socket.destroy',
    to: 'if (false) socket.destroy',
  },
  {
    name: 'a literal may name a port of the process itself',
    file: 'connector.ts',
    from: "if (isLiteral && !mayReach(demand, isOwnPort, host)) return fail(egressBlocked('literal_address'))",
    to: '',
  },
  {
    name: 'a name may lead to a port of the process itself',
    file: 'connector.ts',
    from: 'permits(addresses, demand, address) && !(isOwnPort && isOwnAddress(address))',
    to: 'permits(addresses, demand, address)',
  },
  {
    name: 'names are not looked up in front of a proxy',
    file: 'egress.ts',
    from: 'if (block !== undefined) throw egressBlocked(block)',
    to: '',
  },
  // The definition of public addresses.
  {
    name: 'an IPv4 address inside an IPv6 one is overlooked',
    file: 'address-policy.ts',
    from: '[address, ...embeddedAddress(address)]',
    to: '[address]',
  },
  {
    name: 'all of IPv6 is public',
    file: 'address-policy.ts',
    from: "if (!v6.match(GLOBAL_UNICAST)) return v6.range() === 'unicast' ? 'outside 2000::/3' : v6.range()",
    to: '',
  },
  { name: 'ISATAP is public', file: 'address-policy.ts', from: "return 'isatap'", to: "return 'unicast'" },
  {
    name: 'metadata services are as good as their network',
    file: 'address-policy.ts',
    from: 'places.some(place => contains(METADATA_SERVICES, place))',
    to: 'false',
  },
  {
    name: 'the deny list is not read',
    file: 'address-policy.ts',
    from: 'places.some(place => contains(denied, place))',
    to: 'false',
  },
  {
    name: 'a trailing dot hides a name',
    file: 'url-policy.ts',
    from: "return bare.endsWith('.') ? bare.slice(0, -1) : bare",
    to: 'return bare',
  },
  // TLS, direct and through a proxy.
  { name: 'TLS 1.1 is spoken', file: 'connector.ts', from: "minVersion: 'TLSv1.2'", to: "minVersion: 'TLSv1'" },
  {
    name: 'TLS 1.1 is spoken through a proxy',
    file: 'lanes.ts',
    from: "minVersion: 'TLSv1.2'",
    to: "minVersion: 'TLSv1'",
  },
  {
    name: 'certificates are not verified',
    file: 'connector.ts',
    from: 'rejectUnauthorized: options.verifyTls',
    to: 'rejectUnauthorized: false',
  },
  {
    name: 'certificates are not verified through a proxy',
    file: 'lanes.ts',
    from: 'rejectUnauthorized: verifyTls',
    to: 'rejectUnauthorized: false',
  },
  { name: 'HTTP/2 is offered', file: 'connector.ts', from: 'allowH2: false', to: 'allowH2: true' },
  { name: 'HTTP/2 is offered through a proxy', file: 'lanes.ts', from: 'allowH2: false', to: 'allowH2: true' },
  // Limits on answers.
  {
    name: 'answers may be of any size',
    file: 'exchange.ts',
    from: 'const room = this.#maxBytes - this.#bytes',
    to: 'const room = Infinity',
  },
  {
    name: 'a connection may bring any number of bytes',
    file: 'socket-meter.ts',
    from: 'rawBytesRead(socket) > this.#limit',
    to: 'false',
  },
  {
    name: 'bytes are counted above TLS',
    file: 'socket-meter.ts',
    from: 'Math.max(handle?.bytesRead ?? 0, socket.bytesRead)',
    to: 'socket.bytesRead',
  },
  {
    name: 'interim responses are not counted',
    file: 'exchange.ts',
    from: '++this.#interimResponses > MAX_INTERIM_RESPONSES',
    to: 'false',
  },
  {
    name: 'connections through a proxy are not metered',
    file: 'lanes.ts',
    from: 'factory: (origin, options) => new Pool(origin, { ...options, factory: meteredClient }),',
    to: '',
  },
  {
    name: 'there is no overall deadline',
    file: 'deadline.ts',
    from: "setTimeout(() => this.end('deadline'), timeoutMs)",
    to: 'setTimeout(() => {}, timeoutMs)',
  },
  {
    name: 'custom headers may be ours',
    file: 'custom-headers.ts',
    from: 'if (isReserved(name.toLowerCase())) return',
    to: 'if (false) return',
  },
]

// The number of cores, so that no test fails because of a timeout.
vi.setConfig({ maxConcurrency: 2 })

test.concurrent.each(mutants)('it is noticed when $name', async ({ file, from, to }) => {
  expect(await runTestsWith(file, from, to)).toBe('a test failed')
})

test('nothing is noticed when nothing changes', async () => {
  expect(await runTestsWith('connector.ts', 'allowH2: false', 'allowH2: false')).toBe('no test noticed')
})

const OUTCOMES: Record<number, string> = {
  0: 'a test failed',
  1: 'no test noticed',
  3: 'the file holds no such text, or several',
}

async function runTestsWith(file: string, from: string, to: string): Promise<string> {
  const runner = fileURLToPath(import.meta.resolve('./run-mutant.ts'))
  const child = spawn(process.execPath, [runner, file, from, to], { timeout: 100_000 })
  const said: Buffer[] = []
  child.stderr.on('data', chunk => said.push(chunk))
  const [code] = await once(child, 'exit')
  return OUTCOMES[code] ?? `ended with ${code}: ${Buffer.concat(said)}`
}
