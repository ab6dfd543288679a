/** Receivers for each kind of channel, for the suite that all kinds pass. Adding a kind adds an entry. */
import type { ChannelDocument, ChannelKind } from '@backstop/contracts'
import { Secret } from '@backstop/kit'
import { type ReceivedRequest, startReceiver } from '@backstop/kit/test'
import { createSmtpMailer } from '../src/mail/smtp-mailer.ts'
import type { Behaviour, ChannelEndpoint, ChannelWorld } from './channel.contract.ts'
import { emailChannel, slackChannel, webhookChannel } from './fixtures.ts'
import { startRawServer } from './real-receivers.ts'
import { type SmtpScript, startScriptedSmtpServer } from './scripted-smtp-server.ts'

/** What an HTTP receiver says to a request, where it says anything. */
export interface HttpSays {
  readonly status: number
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string
}

/** An HTTP receiver on loopback that behaves like this, and what it was sent. */
export async function startHttpReceiver(behaviour: Behaviour, says: (request: ReceivedRequest) => HttpSays) {
  if (behaviour === 'is_away') return { requests: [], ...(await nobody()) }
  if (behaviour === 'resets') return { requests: [], ...(await raw(socket => socket.resetAndDestroy())) }
  if (behaviour === 'talks_nonsense') return { requests: [], ...(await raw(socket => socket.end('250 hello\r\n'))) }
  return startReceiver((request, response) => {
    if (behaviour === 'hangs') return
    const { status, headers = {}, body = '' } = says(request)
    response.writeHead(status, headers).end(body)
  })
}

const raw = (behave: Parameters<typeof startRawServer>[0]) =>
  startRawServer(socket => socket.once('data', () => behave(socket)))

async function nobody() {
  const { url, stop } = await startRawServer(() => {})
  await stop()
  return { url, stop: async () => {} }
}

const echoOf = ({ method, path, headers, body }: ReceivedRequest) =>
  `Cannot ${method} ${path}\n${JSON.stringify(headers)}\n${body}`

const WAIT = { 'retry-after': '120' }
const SIGNING = 'canary-of-signing/secret'
const PREVIOUS = 'canary "of" previous secret'
const TOKEN = 'Bearer canary-of-header'

const webhook: ChannelWorld = {
  secrets: [SIGNING, PREVIOUS, TOKEN],
  canAskToWait: true,
  async open(behaviour): Promise<ChannelEndpoint> {
    const receiver = await startHttpReceiver(behaviour, request => {
      switch (behaviour) {
        case 'is_gone':
          return { status: 410 }
        case 'asks_to_wait':
          return { status: 429, headers: WAIT }
        case 'echoes':
          return { status: 500, body: `${SIGNING} ${PREVIOUS} ${echoOf(request)}` }
        default:
          return { status: behaviour === 'fails' ? 500 : 204 }
      }
    })
    const previous = { secret: PREVIOUS, expiresAt: new Date('2100-01-01') }
    const given = { secret: SIGNING, previous, headers: { Authorization: TOKEN } }
    return {
      channel: webhookChannel('chn_1', `${receiver.url}/hook`, given),
      identities: () => receiver.requests.map(({ headers, body }) => `${headers['webhook-id']} ${body}`),
      stop: receiver.stop,
    }
  },
  unreadable: withSecretsOf('chn_other', id => webhookChannel(id, 'http://127.0.0.1:9', SIGNING)),
}

const PATH = '/services/T0/B0/canary-of-hook'

const slack: ChannelWorld = {
  secrets: [PATH],
  canAskToWait: true,
  async open(behaviour) {
    const receiver = await startHttpReceiver(behaviour, request => {
      switch (behaviour) {
        case 'is_gone':
          return { status: 404, body: 'no_service' }
        case 'asks_to_wait':
          return { status: 429, headers: WAIT }
        case 'echoes':
          return { status: 500, body: `${receiver.url}${PATH} ${echoOf(request)}` }
        default:
          return behaviour === 'fails' ? { status: 500, body: 'rollup_error' } : { status: 200, body: 'ok' }
      }
    })
    return {
      channel: slackChannel('chn_1', `${receiver.url}${PATH}`),
      identities: () => receiver.requests.map(({ body }) => String(body)),
      stop: receiver.stop,
    }
  },
  unreadable: withSecretsOf('chn_other', id => slackChannel(id, 'http://127.0.0.1:9')),
}

const PASSWORD = 'canary-of/smtp password'

const email: ChannelWorld = {
  secrets: [PASSWORD],
  // SMTP has no word for it (RFC 5321): the ladder decides.
  canAskToWait: false,
  async open(behaviour) {
    const server = await startMailServer(behaviour)
    const url = new URL(server.url.replace(/^http:/, 'smtp:'))
    url.username = 'backstop'
    url.password = encodeURIComponent(PASSWORD)
    return {
      channel: emailChannel('chn_1', ['ops@example.com']),
      mailer: createSmtpMailer({ url: new Secret(url.href), from: 'Backstop <alerts@example.com>', requireTls: true }),
      identities: () => server.identities(),
      stop: server.stop,
    }
  },
}

async function startMailServer(behaviour: Behaviour) {
  const none = { identities: () => [] }
  switch (behaviour) {
    case 'is_away':
      return { ...none, ...(await nobody()) }
    case 'resets':
      return { ...none, ...(await startRawServer(socket => socket.resetAndDestroy())) }
    case 'talks_nonsense':
      return { ...none, ...(await startRawServer(socket => socket.end('HTTP/1.1 200 OK\r\n\r\n'))) }
    default: {
      const login = { EHLO: '250 AUTH PLAIN', 'AUTH PLAIN': '235 welcome' }
      const server = await startScriptedSmtpServer({ answers: { ...login, ...MAIL_SERVER_SAYS[behaviour] } })
      const identities = () => server.mails.map(mail => /^Message-ID: (.*)$/m.exec(mail)?.[1] ?? '')
      return { url: server.url, identities, stop: server.stop }
    }
  }
}

const MAIL_SERVER_SAYS: Partial<Record<Behaviour, SmtpScript['answers']>> = {
  fails: { content: '451 4.3.0 later' },
  is_gone: { 'RCPT TO': '550 5.1.1 no such user' },
  hangs: { content: 'hang' },
  echoes: { content: `451 4.3.0 ${PASSWORD}` },
}

export const CHANNEL_WORLDS: { readonly [K in ChannelKind]: ChannelWorld } = { webhook, slack, email }

/** The channel with what was sealed for another one, as if somebody had copied it there. */
function withSecretsOf(id: string, make: (id: string) => ChannelDocument) {
  return (channel: ChannelDocument): ChannelDocument => ({ ...channel, config: make(id).config })
}
