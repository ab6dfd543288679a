import { createServer, type Socket } from 'node:net'
import { TLSSocket } from 'node:tls'
import type { Certificate } from '@backstop/kit/test'

/** What the server says at each command; 250 where nothing is given. `hang` says nothing at all. */
export interface SmtpScript {
  greeting?: string
  /** By command in capitals: EHLO, `AUTH PLAIN`, `MAIL FROM`, `RCPT TO`, DATA, and `content` for the mail itself. */
  answers?: Readonly<Record<string, string | ((line: string) => string)>>
  /** Speaks TLS with it from the first byte, or once it was asked to by STARTTLS. Refuses STARTTLS when left out. */
  tls?: { readonly from: 'first_byte' | 'starttls'; readonly certificate: Certificate }
}

/** A mail server on loopback that answers as told and keeps what it is sent; `inTheClear` of that, what came without TLS. */
export async function startScriptedSmtpServer(script: SmtpScript = {}) {
  const mails: string[] = []
  const inTheClear: string[] = []
  const sockets = new Set<Socket>()
  const keep = (mail: string, socket: Socket) => {
    mails.push(mail)
    if (!(socket instanceof TLSSocket)) inTheClear.push(mail)
  }
  const server = createServer(socket => {
    sockets.add(socket)
    socket.on('close', () => sockets.delete(socket))
    socket.on('error', () => {})
    const first = script.tls?.from === 'first_byte' ? secured(socket, script.tls.certificate) : socket
    first.write(line(script.greeting ?? '220 scripted'))
    converse(first, script, keep)
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as { port: number }
  return {
    mails,
    inTheClear,
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

function secured(socket: Socket, certificate: Certificate): TLSSocket {
  const secure = new TLSSocket(socket, { isServer: true, ...certificate })
  secure.on('error', () => {})
  return secure
}

/** One session, from after the greeting until the client leaves or begins TLS, which begins another. */
function converse(socket: Socket, script: SmtpScript, keep: (mail: string, socket: Socket) => void): void {
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
  const take = (given: string) => {
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
      converse(secured(socket, certificate), script, keep)
    }
  }
  let rest = ''
  socket.on('data', chunk => {
    rest += chunk.toString('latin1')
    for (let end = rest.indexOf('\r\n'); end >= 0; end = rest.indexOf('\r\n')) {
      const given = rest.slice(0, end)
      rest = rest.slice(end + 2)
      take(given)
    }
  })
}
