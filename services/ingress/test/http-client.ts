import { type OutgoingHttpHeaders, request } from 'node:http'
import { connect } from 'node:net'

export interface HttpAnswer {
  readonly status: number
  readonly headers: Readonly<Record<string, string | string[] | undefined>>
  readonly body: string
}

/** Posts bytes and reads the whole answer. Each call opens its own connection, so that calls are independent. */
export function post(
  url: string,
  body: Buffer | string | readonly (Buffer | string)[],
  headers: OutgoingHttpHeaders = {},
  method = 'POST',
): Promise<HttpAnswer> {
  return new Promise((resolve, reject) => {
    const outgoing = request(url, { method, headers, agent: false }, response => {
      const chunks: Buffer[] = []
      response.on('data', chunk => chunks.push(chunk))
      response.on('error', reject)
      response.on('end', () =>
        resolve({
          status: response.statusCode ?? 0,
          headers: response.headers,
          body: Buffer.concat(chunks).toString('utf8'),
        }),
      )
    })
    outgoing.on('error', reject)
    if (typeof body === 'string' || Buffer.isBuffer(body)) return outgoing.end(body)
    // With several parts, the body is chunked, and each part is written separately.
    for (const part of body) outgoing.write(part)
    outgoing.end()
  })
}

/**
 * Sends bytes unchanged over a new connection and reads until the server closes it.
 * @param parts a number is a pause in milliseconds
 */
export function rawExchange(port: number, parts: readonly (string | Buffer | number)[]): Promise<string> {
  return new Promise((resolve, reject) => {
    const chunks: Uint8Array[] = []
    const socket = connect(port, '127.0.0.1')
    const finish = () => resolve(Buffer.concat(chunks).toString('latin1'))
    socket.on('data', (chunk: Buffer) => chunks.push(chunk))
    socket.on('end', () => socket.end())
    socket.on('close', finish)
    // If the server resets the connection, it has already sent its answer.
    socket.on('error', () => {})
    socket.on('connect', () => void writeAll().catch(reject))
    async function writeAll() {
      for (const part of parts) {
        if (typeof part === 'number') await new Promise(done => setTimeout(done, part))
        else socket.write(part)
      }
    }
  })
}

/** Parses the answer that rawExchange read. */
export function parseAnswer(raw: string): { status: number; head: string; body: string } {
  const end = raw.indexOf('\r\n\r\n')
  const head = raw.slice(0, end)
  return { status: Number(head.split(' ')[1]), head, body: raw.slice(end + 4) }
}
