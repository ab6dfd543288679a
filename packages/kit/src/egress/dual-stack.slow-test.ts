/** A host of which one address family is dead, which nobody notices who has a browser: what is sent to it must arrive. */
import { createSocket } from 'node:dgram'
import { once } from 'node:events'
import { pino } from 'pino'
import { afterEach, expect, test } from 'vitest'
import { openBlackHole } from '../../test/black-hole.ts'
import { startReceiver } from '../../test/receiver.ts'
import { createSelfSignedCertificate, trusting } from '../../test/self-signed-certificate.ts'
import { buildEgress } from './egress.ts'
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
    if (certificate !== undefined) cleanUps.push(trusting(certificate))
    const receiver = await startReceiver(undefined, certificate)
    cleanUps.push(() => receiver.stop())
    const hole = await openBlackHole(receiver.port)
    cleanUps.push(() => hole.stop())
    const egress = buildEgress(
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

/** A name server that knows one address of every name and keeps silent when it is asked for the other family. */
async function startNameServer(family: 4 | 6): Promise<string> {
  const [type, address] = family === 4 ? [1, [93, 184, 215, 14]] : [28, [0x26, 6, ...new Array(13).fill(0), 1]]
  const server = createSocket('udp4')
  server.on('message', (query, { port }) => {
    // The question is a name, ended by a zero, its type and its class (RFC 1035 §4.1).
    const end = query.indexOf(0, 12) + 5
    if (query.readUInt16BE(end - 4) !== type) return
    const head = Buffer.from([...query.subarray(0, 2), 0x81, 0x80, 0, 1, 0, 1, 0, 0, 0, 0])
    const answer = Buffer.from([0xc0, 12, 0, type, 0, 1, 0, 0, 0, 0, 0, address.length, ...address])
    server.send(Buffer.concat([head, query.subarray(12, end), answer]), port, '127.0.0.1')
  })
  server.bind(0, '127.0.0.1')
  await once(server, 'listening')
  cleanUps.push(() => server.close())
  return `127.0.0.1:${server.address().port}`
}

test.each([
  { silent: 'AAAA', family: 4, address: '93.184.215.14' },
  { silent: 'A', family: 6, address: '2606::1' },
] as const)('a name server that never answers for $silent holds a name up for less than a second', async row => {
  const resolve = createResolver({ hostsFile: false, servers: [await startNameServer(row.family)] })
  const startedAtMs = performance.now()
  expect(await resolve('hooks.example.com')).toEqual([{ address: row.address, family: row.family }])
  expect(performance.now() - startedAtMs).toBeLessThan(SOON_MS)
})
