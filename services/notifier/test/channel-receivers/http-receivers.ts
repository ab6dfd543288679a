import type { ChannelDocument } from '@backstop/channels'
import { type ReceivedRequest, startReceiver } from '@backstop/kit/test'
import type { Behaviour, ChannelEndpoint, ChannelReceivers } from '../channel.contract.ts'
import { startRawServer } from '../real-receivers.ts'

interface HttpAnswer {
  readonly status: number
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string
}

/** HTTP receivers for a kind of channel that sends HTTP requests. */
export function httpReceivers(kind: {
  /** A channel with this base URL. */
  channelTo(url: string): ChannelDocument
  readonly secrets: readonly string[]
  readonly unreadable?: (channel: ChannelDocument) => ChannelDocument
  readonly answers: Readonly<Record<'accepts' | 'fails' | 'is_gone', HttpAnswer>>
  /** The answer to a request that the service would refuse by its documentation; undefined if it accepts the request. */
  refusalTo?(request: ReceivedRequest): HttpAnswer | undefined
  /** The identity that a receiver sees in a message: equal for equal messages. */
  identityOf(request: ReceivedRequest): string
}): ChannelReceivers {
  const answerTo = (behaviour: Behaviour, request: ReceivedRequest): HttpAnswer => {
    switch (behaviour) {
      case 'asks_to_wait':
        return { status: 429, headers: { 'retry-after': '120' } }
      case 'echoes':
        return { ...kind.answers.fails, body: `${kind.secrets.join('\n')}\n${echoOf(request)}` }
      case 'fails':
      case 'is_gone':
        return kind.answers[behaviour]
      default:
        return kind.refusalTo?.(request) ?? kind.answers.accepts
    }
  }
  return {
    ...kind,
    canAskToWait: true,
    async startReceiver(behaviour): Promise<ChannelEndpoint> {
      const { url, requests, stop } = await startHttpReceiver(behaviour, request => answerTo(behaviour, request))
      return { channel: kind.channelTo(url), identities: () => requests.map(kind.identityOf), stop }
    },
  }
}

async function startHttpReceiver(behaviour: Behaviour, answerTo: (request: ReceivedRequest) => HttpAnswer) {
  const requests: ReceivedRequest[] = []
  switch (behaviour) {
    case 'is_away':
      return { requests, ...(await startClosedPort()) }
    case 'resets':
      return { requests, ...(await startRawServer(socket => socket.once('data', () => socket.resetAndDestroy()))) }
    case 'talks_nonsense':
      return { requests, ...(await startRawServer(socket => socket.once('data', () => socket.end('250 hello\r\n')))) }
    case 'hangs':
      return startReceiver(() => {})
    default:
      return startReceiver((request, response) => {
        const { status, headers = {}, body = '' } = answerTo(request)
        response.writeHead(status, headers).end(body)
      })
  }
}

/** A base URL whose port is closed. */
export async function startClosedPort() {
  const { url, stop } = await startRawServer(() => {})
  await stop()
  return { url, stop: async () => {} }
}

/** A text that repeats a request, as error pages and debugging tools do. */
function echoOf({ method, path, headers, body }: ReceivedRequest): string {
  return `Cannot ${method} ${path} of http://${headers.host}${path}\n${JSON.stringify(headers)}\n${body}`
}
