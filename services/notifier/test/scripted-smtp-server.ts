import { createServer, type Server, type Socket } from 'node:net'

/** What the server says at each command; 250 where nothing is given. `hang` says nothing at all. */
export interface SmtpScript {
  greeting?: string
  /** By command in capitals: EHLO, `AUTH PLAIN`, `MAIL FROM`, `RCPT TO`, DATA, and `content` for the mail itself. */
  answers?: Readonly<Record<string, string | ((line: string) => string)>>
}

/** A mail server on loopback that answers as told and keeps what it is sent. */
export async function startScriptedSmtpServer(script: SmtpScript = {}) {
  const mails: string[] = []
  const sockets = new Set<Socket>()
  const server: Server = createServer(socket => {
    sockets.add(socket)
    socket.on('close', () => sockets.delete(socket))
    socket.on('error', () => {})
    const say = (line: string) => line !== 'hang' && socket.write(`${line}\r\n`)
    const answer = (command: string, line: string, fallback: string) => {
      const scripted = script.answers?.[command] ?? fallback
      const said = typeof scripted === 'function' ? scripted(line) : scripted
      say(said)
      return said
    }
    let content: string | undefined
    let rest = ''
    say(script.greeting ?? '220 scripted')
    socket.on('data', chunk => {
      rest += chunk.toString('latin1')
      for (let end = rest.indexOf('\r\n'); end >= 0; end = rest.indexOf('\r\n')) {
        const line = rest.slice(0, end)
        rest = rest.slice(end + 2)
        if (content !== undefined) {
          if (line !== '.') {
            content += `${line}\n`
            continue
          }
          mails.push(content)
          content = undefined
          answer('content', line, '250 queued')
          continue
        }
        const command = /^(?:MAIL FROM|RCPT TO|AUTH \w+|\w+)/i.exec(line)?.[0].toUpperCase() ?? ''
        const said = answer(command, line, command === 'DATA' ? '354 go on' : '250 fine')
        if (command === 'DATA' && said.startsWith('354')) content = ''
        if (command === 'QUIT') socket.end()
      }
    })
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  return {
    mails,
    url: `smtp://127.0.0.1:${(server.address() as { port: number }).port}`,
    stop: () =>
      new Promise<void>(resolve => {
        server.close(() => resolve())
        for (const socket of sockets) socket.destroy()
      }),
  }
}
