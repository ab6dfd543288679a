import { createSmtpMailer } from '@backstop/channels/deliver'
import { emailChannel, type SmtpScript, startScriptedSmtpServer } from '@backstop/channels/test'
import { Secret } from '@backstop/kit/config'
import type { Behaviour, ChannelReceivers } from '../channel.contract.ts'
import { startRawServer } from '../real-receivers.ts'
import { startClosedPort } from './http-receivers.ts'

/** The SMTP password of the installation, because a mail channel itself has no secret. */
const PASSWORD = 'canary-of/smtp password'

export const emailReceivers: ChannelReceivers = {
  secrets: [PASSWORD],
  // SMTP (RFC 5321) has no equivalent of Retry-After, so the retry ladder decides.
  canAskToWait: false,
  async startReceiver(behaviour) {
    const server = await startMailServer(behaviour)
    const url = new URL(server.url.replace(/^http:/, 'smtp:'))
    url.username = 'backstop'
    url.password = encodeURIComponent(PASSWORD)
    return {
      channel: emailChannel('chn_1', ['ops@example.com']),
      mailer: createSmtpMailer({ url: new Secret(url.href), from: 'Backstop <alerts@example.com>', requireTls: true }),
      identities: server.identities,
      stop: server.stop,
    }
  },
}

async function startMailServer(behaviour: Behaviour) {
  const identities = (): string[] => []
  switch (behaviour) {
    case 'is_away':
      return { identities, ...(await startClosedPort()) }
    case 'resets':
      return { identities, ...(await startRawServer(socket => socket.resetAndDestroy())) }
    case 'talks_nonsense':
      return { identities, ...(await startRawServer(socket => socket.end('HTTP/1.1 200 OK\r\n\r\n'))) }
    default: {
      const login = { EHLO: '250 AUTH PLAIN', 'AUTH PLAIN': '235 welcome' }
      const server = await startScriptedSmtpServer({ answers: { ...login, ...SAYS[behaviour] } })
      return { ...server, identities: () => server.mails.map(mail => /^Message-ID: (.*)$/m.exec(mail)?.[1] ?? '') }
    }
  }
}

const SAYS: Partial<Record<Behaviour, SmtpScript['answers']>> = {
  fails: { content: '451 4.3.0 later' },
  is_gone: { 'RCPT TO': '550 5.1.1 no such user' },
  hangs: { content: 'hang' },
  echoes: { content: `451 4.3.0 ${PASSWORD}` },
}
