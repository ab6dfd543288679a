import { createServer, type Socket } from 'node:net'
import { TLSSocket } from 'node:tls'
import type { Certificate } from '@backstop/kit/test'

/** The scripted replies of the server. */
export interface SmtpScript {
  greeting?: string
  /**
   * Replies by upper-case command: EHLO, `AUTH PLAIN`, `MAIL FROM`, `RCPT TO`, DATA, and `content` for the mail itself.
   * Other commands get 250; `hang` sends no reply.
   */
  answers?: Readonly<Record<string, string | ((line: string) => string)>>
  /** TLS from the first byte or after STARTTLS. By default STARTTLS is refused. */
  tls?: { readonly from: 'first_byte' | 'starttls'; readonly certificate: Certificate }
}

/**
 * Starts a mail server on loopback that follows the script. `mails` contains all received mails, `unencrypted` the
 * mails received without TLS.
 */
export async function startScriptedSmtpServer(script: SmtpScript = {}) {
  const mails: string[] = []
  const unencrypted: string[] = []
  const sockets = new Set<Socket>()
  const keep = (mail: string, socket: Socket) => {
    mails.push(mail)
    if (!(socket instanceof TLSSocket)) unencrypted.push(mail)
  }
  const server = createServer(socket => {
    sockets.add(socket)
    socket.on('close', () => sockets.delete(socket))
    socket.on('error', () => {})
    const first = script.tls?.from === 'first_byte' ? startTls(socket, script.tls.certificate) : socket
    first.write(line(script.greeting ?? '220 scripted'))
    handleSession(first, script, keep)
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as { port: number }
  return {
    mails,
    unencrypted,
    port,
    url: `smtp://127.0.0.1:${port}`,
    stop: () =>
      new Promise<void>(resolve => {
        server.close(() => resolve())
        for (const socket of sockets) socket.destroy()
      }),
  }
}

const line = (text: string) => `${text}\r\n`

function startTls(socket: Socket, certificate: Certificate): TLSSocket {
  const secure = new TLSSocket(socket, { isServer: true, ...certificate })
  secure.on('error', () => {})
  return secure
}

/** Handles one SMTP session until the client quits, or until STARTTLS begins a new session. */
function handleSession(socket: Socket, script: SmtpScript, keep: (mail: string, socket: Socket) => void): void {
  const certificate = script.tls?.from === 'starttls' ? script.tls.certificate : undefined
  const fallbacks: Readonly<Record<string, string>> = {
    DATA: '354 go on',
    content: '250 queued',
    EHLO: certificate === undefined || socket instanceof TLSSocket ? '250 fine' : '250-fine\r\n250 STARTTLS',
    STARTTLS: certificate === undefined ? '502 5.5.1 no such command' : '220 go on',
  }
  const answer = (command: string, given: string) => {
    const scripted = script.answers?.[command] ?? fallbacks[command] ?? '250 fine'
    const said = typeof scripted === 'function' ? scripted(given) : scripted
    if (said !== 'hang') socket.write(line(said))
    return said
  }
  let content: string | undefined
  const receive = (given: string) => {
    if (content !== undefined) {
      if (given !== '.') {
        content += `${given}\n`
        return
      }
      keep(content, socket)
      content = undefined
      answer('content', given)
      return
    }
    const command = /^(?:MAIL FROM|RCPT TO|AUTH \w+|\w+)/i.exec(given)?.[0].toUpperCase() ?? ''
    const said = answer(command, given)
    if (command === 'DATA' && said.startsWith('354')) content = ''
    if (command === 'QUIT') socket.end()
    if (command === 'STARTTLS' && said.startsWith('220') && certificate !== undefined) {
      socket.removeAllListeners('data')
      handleSession(startTls(socket, certificate), script, keep)
    }
  }
  let rest = ''
  socket.on('data', chunk => {
    rest += chunk.toString('latin1')
    for (let end = rest.indexOf('\r\n'); end >= 0; end = rest.indexOf('\r\n')) {
      const given = rest.slice(0, end)
      rest = rest.slice(end + 2)
      receive(given)
    }
  })
}
