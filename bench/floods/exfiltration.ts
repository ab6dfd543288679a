/** A customer with an API key who tries to make the product send secrets, or any request, to forbidden destinations. */
import { setTimeout as sleep } from 'node:timers/promises'
import { FLOODS, type FloodingReceiver, type Receiver, startFloodingReceiver, startReceiver } from '@backstop/kit/test'
import { ApiRefusal } from '../../scripts/start/management-api.ts'
import type { Connected } from '../../test/setup/accounts.ts'
import type { Customer } from '../../test/setup/customer.ts'

/** Destinations that no channel may have. */
const FORBIDDEN_URLS = [
  'http://169.254.169.254/latest/meta-data/',
  'https://[fd00:ec2::254]/',
  'https://10.0.0.1/hook',
  'https://[::ffff:192.168.0.1]/hook',
  'https://user:word@example.com/hook',
]
const PAUSE_MS = 200

export interface Exfiltration {
  /** Descriptions of the forbidden attempts that succeeded; empty if none did. */
  breaches(): readonly string[]
  /** Number of attempts so far. */
  attempts(): number
  stop(): Promise<void>
}

/** Repeats its attempts until it is stopped. @param readKey the stored read key, which must not reach the attacker */
export async function startExfiltration(
  customer: Customer,
  { connection }: Pick<Connected<'processor'>, 'connection'>,
  readKey: string,
): Promise<Exfiltration> {
  const thief: Receiver = await startReceiver()
  const flooding: FloodingReceiver[] = []
  const hostileChannels: string[] = []
  for (const flood of [FLOODS.chunkExtension, FLOODS.interimResponses, FLOODS.trailers]) {
    const receiver = await startFloodingReceiver(flood)
    flooding.push(receiver)
    const { channel_id } = await create(customer, `http://127.0.0.1:${receiver.port}/`)
    hostileChannels.push(channel_id)
  }
  const breaches: string[] = []
  let attempts = 0
  let isStopping = false

  const expectRefusal = async (what: string, act: () => Promise<unknown>) => {
    attempts++
    try {
      await act()
      breaches.push(what)
    } catch (error) {
      if (!(error instanceof ApiRefusal) || error.status >= 500) throw error
    }
  }
  const path = `/v1/projects/${customer.projectId}/connections/${connection.connection_id}`
  const run = async () => {
    for (let turn = 0; !isStopping; turn++) {
      const url = FORBIDDEN_URLS[turn % FORBIDDEN_URLS.length]!
      await expectRefusal(`a channel to ${url}`, () => create(customer, url))
      await expectRefusal('another api_base for a stored read key', () =>
        customer.api.patch(path, { api_base: `http://127.0.0.1:${thief.port}` }),
      )
      attempts++
      await testUnlessLimited(customer, hostileChannels[turn % hostileChannels.length]!)
      await sleep(PAUSE_MS)
    }
  }
  const running = run()
  // stop() awaits this promise. Until then a rejection must not be reported as unhandled.
  running.catch(() => {})
  return {
    breaches: () => [
      ...breaches,
      ...thief.requests
        .filter(({ headers, body }) => JSON.stringify(headers).includes(readKey) || body.includes(readKey))
        .map(({ path }) => `the read key reached the thief at ${path}`),
    ],
    attempts: () => attempts,
    async stop() {
      isStopping = true
      try {
        await running
      } finally {
        await Promise.all([thief.stop(), ...flooding.map(receiver => receiver.stop())])
      }
    },
  }
}

function create(customer: Customer, url: string): Promise<{ channel_id: string }> {
  return customer.api.post('/v1/alert-channels', {
    project_id: customer.projectId,
    name: 'Hostile',
    events: ['run.failed'],
    config: { kind: 'webhook', url, secret: 'whsec_aG9zdGlsZSBjdXN0b21lcg==' },
  })
}

/** Tests a channel as often as the limit of tests allows. */
async function testUnlessLimited({ api }: Customer, channelId: string): Promise<void> {
  try {
    await api.post(`/v1/alert-channels/${channelId}/test`, {})
  } catch (error) {
    if (!(error instanceof ApiRefusal) || error.status !== 429) throw error
  }
}
