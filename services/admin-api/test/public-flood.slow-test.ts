/** Measures how much memory callers without a key can make the API use. The API runs as a separate process. */
import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { fileURLToPath } from 'node:url'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { MAIL_EVENTS_TOKEN } from './test-api.ts'

const CONNECTIONS = 800
const MIB = 1_048_576
/** A pod has 512 MiB; an idle process uses about 160 MiB. */
const MAY_GROW_MIB = 200
/**
 * How often the memory is read during a flood, every 100 ms. A number and not a time, because the process reads from each connection
 * between two answers, also on a busy machine.
 */
const READINGS = 30

let child: ChildProcess
let port: number

// A process for each flood: freed memory stays with the process, and would count in the next flood.
beforeEach(async () => {
  child = fork(fileURLToPath(new URL('flooded-api.ts', import.meta.url)), {
    execArgv: ['--max-old-space-size=384'],
    stdio: 'ignore',
  })
  const [started] = await once(child, 'message')
  port = started.port
})
afterEach(() => void child.kill('SIGKILL'))

async function residentMiB(): Promise<number> {
  child.send('memory')
  const [answer] = await once(child, 'message')
  return Math.round(answer.rss / MIB)
}

/** Opens connections and writes as much to each as it accepts. It reads no answers. */
function flood(head: string, body: Buffer): Socket[] {
  return Array.from({ length: CONNECTIONS }, () => {
    const socket = connect(port, '127.0.0.1')
    socket.on('error', () => {})
    socket.pause()
    socket.write(head)
    socket.write(body)
    return socket
  })
}

/** Returns the largest memory use of the process until it has closed all connections, or until the last reading. */
async function peakMiB(sockets: readonly Socket[]): Promise<number> {
  let peak = 0
  for (let reading = 0; reading < READINGS && !sockets.every(socket => socket.destroyed); reading++) {
    peak = Math.max(peak, await residentMiB())
    await new Promise(resolve => setTimeout(resolve, 100))
  }
  return peak
}

const post = (path: string, more = '') =>
  `POST ${path} HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\n${more}content-length: ${MIB}\r\n\r\n`
/** A body without its last byte, so an API that reads whole bodies would hold it until the request times out. */
const ALMOST_A_MIB = Buffer.alloc(MIB - 1, 0x20)

describe(`${CONNECTIONS} connections of somebody without a key`, () => {
  test.each([
    { name: 'bodies to a link that unsubscribes', head: post('/v1/unsubscribe/x'), body: ALMOST_A_MIB },
    { name: 'reports under a wrong token', head: post('/v1/mail-events/postmark/wrong'), body: ALMOST_A_MIB },
    { name: 'messages of SNS under a wrong token', head: post('/v1/mail-events/ses-sns/wrong'), body: ALMOST_A_MIB },
    {
      name: 'reports under the token',
      head: post(`/v1/mail-events/postmark/${MAIL_EVENTS_TOKEN}`),
      body: ALMOST_A_MIB,
    },
    { name: 'bodies without a key', head: post('/v1/projects'), body: ALMOST_A_MIB },
    { name: 'bodies to a path that is not there', head: post('/nowhere'), body: ALMOST_A_MIB },
    {
      name: 'questions that do not wait for an answer',
      head: '',
      body: Buffer.from('GET / HTTP/1.1\r\nhost:\r\n\r\n'.repeat(20_000)),
    },
    {
      name: 'questions for the longest answer',
      head: '',
      body: Buffer.from('GET /v1/openapi.json HTTP/1.1\r\nhost:\r\n\r\n'.repeat(20_000)),
    },
  ])('with $name leave the process below its limit', async ({ name, head, body }) => {
    const before = await residentMiB()
    const sockets = flood(head, body)
    const peak = await peakMiB(sockets)
    for (const socket of sockets) socket.destroy()
    console.log(`${name}: ${before} MiB → ${peak} MiB`)
    expect(peak - before).toBeLessThan(MAY_GROW_MIB)
  })
})
