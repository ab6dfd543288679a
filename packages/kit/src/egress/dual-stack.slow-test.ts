/**
 * Requests to a host with one unreachable address family. Browsers hide this fault, so its owner may not know it, and
 * deliveries must still arrive.
 */
import { createSocket } from 'node:dgram'
import { once } from 'node:events'
import { pino } from 'pino'
import { afterEach, expect, test } from 'vitest'
import { openBlackHole } from '../../test/black-hole.ts'
import { startReceiver } from '../../test/receiver.ts'
import { createSelfSignedCertificate, trustCertificate } from '../../test/self-signed-certificate.ts'
import { createEgressWith } from './egress.ts'
import { createResolver } from './resolver.ts'

const SOON_MS = 1_000
const cleanUps: (() => unknown)[] = []
afterEach(async () => {
  for (const cleanUp of cleanUps.splice(0).reverse()) await cleanUp()
})

test.each(['http', 'https'])(
  'one that drops packets to its first address is reached by %s within a second',
  async way => {
    const certificate = way === 'https' ? createSelfSignedCertificate('dual.internal') : undefined
    if (certificate !== undefined) cleanUps.push(trustCertificate(certificate))
    const receiver = await startReceiver(undefined, certificate)
    cleanUps.push(() => receiver.stop())
    const hole = await openBlackHole(receiver.port)
    cleanUps.push(() => hole.stop())
    const egress = createEgressWith(
      { allowCidrs: ['127.0.0.0/8', '::1/128'], denyCidrs: [], logger: pino({ level: 'silent' }) },
      {
        resolve: async () =>
          [hole.address, '127.0.0.1'].map(address => ({ address, family: address.includes(':') ? 6 : 4 })),
      },
    )
    cleanUps.push(() => egress.stop())
    const url = `${way}://dual.internal:${receiver.port}/`
    const startedAtMs = performance.now()
    expect((await egress.request({ url, method: 'POST', headers: {}, body: 'x' })).status).toBe(200)
    expect(performance.now() - startedAtMs).toBeLessThan(SOON_MS)
  },
)

const ADDRESSES = {
  A: { type: 1, bytes: [93, 184, 215, 14], shown: { address: '93.184.215.14', family: 4 } },
  AAAA: { type: 28, bytes: [0x26, 6, ...new Array(13).fill(0), 1], shown: { address: '2606::1', family: 6 } },
} as const

/**
 * Delay of the name server's answer in milliseconds. `when_repeated`: only the repeated query is answered, because UDP
 * loses packets.
 */
type Answered = number | 'never' | 'when_repeated'

/** Starts a name server that knows one address of each family for every name, with delayed answers. */
async function startNameServer(answered: Readonly<Record<'A' | 'AAAA', Answered>>): Promise<string> {
  const server = createSocket('udp4')
  const asked = new Set<number>()
  const timers = new Set<NodeJS.Timeout>()
  server.on('message', (query, { port }) => {
    // A DNS question is a name, ended by a zero byte, its type and its class (RFC 1035 §4.1).
    const end = query.indexOf(0, 12) + 5
    const asksFor = query.readUInt16BE(end - 4)
    const { type, bytes } = asksFor === ADDRESSES.A.type ? ADDRESSES.A : ADDRESSES.AAAA
    const after = type === ADDRESSES.A.type ? answered.A : answered.AAAA
    const isRepeated = asked.has(type)
    asked.add(type)
    if (after === 'never' || (after === 'when_repeated' && !isRepeated)) return
    const head = Buffer.from([...query.subarray(0, 2), 0x81, 0x80, 0, 1, 0, 1, 0, 0, 0, 0])
    const answer = Buffer.from([0xc0, 12, 0, type, 0, 1, 0, 0, 0, 0, 0, bytes.length, ...bytes])
    const reply = Buffer.concat([head, query.subarray(12, end), answer])
    timers.add(setTimeout(() => server.send(reply, port, '127.0.0.1'), after === 'when_repeated' ? 0 : after))
  })
  server.bind(0, '127.0.0.1')
  await once(server, 'listening')
  cleanUps.push(() => {
    for (const timer of timers) clearTimeout(timer)
    server.close()
  })
  return `127.0.0.1:${server.address().port}`
}

test.each<{ name: string; A: Answered; AAAA: Answered; found: readonly ('A' | 'AAAA')[]; withinMs: number }>([
  { name: 'is silent about IPv6 holds it up for a moment', A: 0, AAAA: 'never', found: ['A'], withinMs: SOON_MS },
  { name: 'is late with IPv6 does so too', A: 0, AAAA: 700, found: ['A'], withinMs: 650 },
  { name: 'is late with IPv4 costs it no address', A: 700, AAAA: 5, found: ['AAAA', 'A'], withinMs: 1_500 },
  {
    name: 'loses the question for IPv4 is asked again',
    A: 'when_repeated',
    AAAA: 5,
    found: ['AAAA', 'A'],
    withinMs: 2_500,
  },
  { name: 'is silent about IPv4 leaves it time to connect', A: 'never', AAAA: 5, found: ['AAAA'], withinMs: 3_000 },
])('a name whose server $name', async ({ A, AAAA, found, withinMs }) => {
  const resolve = createResolver({ hostsFile: false, servers: [await startNameServer({ A, AAAA })] })
  const startedAtMs = performance.now()
  expect(await resolve('hooks.example.com')).toEqual(found.map(one => ADDRESSES[one].shown))
  expect(performance.now() - startedAtMs).toBeLessThan(withinMs)
})
