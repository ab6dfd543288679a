/**
 * Attacks ingress from many addresses, in a separate process, so that its work does not count as the product's. It
 * knows the URL of a connection but no secret. It sends invalid requests at a fixed rate, and its slow clients open
 * more sockets than ingress keeps and reconnect when they are closed. Reports `ready` when all sockets are open, and
 * its counts on request.
 */
import { randomBytes } from 'node:crypto'
import { Agent, type OutgoingHttpHeaders, request } from 'node:http'
import { connect, type Socket } from 'node:net'
import type { AttackCounts } from './attacker.ts'

const target = new URL(process.env.FLOOD_URL ?? '')
const garbagePerSecond = Number(process.env.FLOOD_GARBAGE_PER_S)
const slowSockets = Number(process.env.FLOOD_SLOW_SOCKETS)
const port = Number(target.port)
const TICK_MS = 10
/**
 * Number of ticks in two seconds. Each slow client sends one byte in its own tick, so that it does not count as idle.
 */
const TICKS_PER_DRIP = 200
/** New sockets per tick: 1,000 per second. */
const DIALS_A_TICK = 10
const SLOW_ADDRESSES = 200
const GARBAGE_ADDRESSES = 20

const counts: AttackCounts = { garbage: 0, answers: {}, dialled: 0, droppedSockets: 0, openSockets: 0 }
let number = 0
const addressOf = (network: number, hosts: number) => `127.0.${network}.${1 + (number++ % hosts)}`

const agents = Array.from(
  { length: GARBAGE_ADDRESSES },
  (_, host) => new Agent({ keepAlive: true, maxSockets: 5, localAddress: `127.0.2.${host + 1}` }),
)

function post(path: string, body: Buffer, headers: OutgoingHttpHeaders): void {
  const agent = agents[number++ % agents.length]!
  const outgoing = request({ host: '127.0.0.1', port, path, method: 'POST', headers, agent }, response => {
    const status = String(response.statusCode)
    counts.answers[status] = (counts.answers[status] ?? 0) + 1
    response.resume()
  })
  outgoing.on('error', () => {})
  outgoing.end(body)
}

/** Sends bytes that are not valid HTTP. */
function sendRaw(bytes: string | Buffer): void {
  const socket = connect({ port, host: '127.0.0.1', localAddress: addressOf(2, GARBAGE_ADDRESSES) }, () =>
    socket.end(bytes),
  )
  socket.on('error', () => {})
  socket.resume()
}

const forgedEvent = () => ({
  id: `evt_forged_${number++}`,
  object: 'event',
  type: 'refund.created',
  data: { object: { object: 'refund', id: `re_forged_${number}`, payment_intent: 'pi_forged', amount: 100 } },
})
const forgedSignature = () => {
  const now = Math.floor(Date.now() / 1_000)
  return { 'processor-signature': `t=${now},v1=${randomBytes(32).toString('hex')}` }
}

const GARBAGE: readonly (() => void)[] = [
  () => post(target.pathname, Buffer.from(JSON.stringify(forgedEvent())), forgedSignature()),
  () => post(target.pathname, Buffer.from(JSON.stringify(forgedEvent())), {}),
  () => post('/v1/webhooks/processor/con_forged', Buffer.from(JSON.stringify(forgedEvent())), forgedSignature()),
  () => post(target.pathname, randomBytes(16_384), forgedSignature()),
  () => post(target.pathname, Buffer.alloc(200_000, 'forged'), forgedSignature()),
  () => post(`/${randomBytes(20).toString('hex')}`, Buffer.from('forged'), {}),
  () => sendRaw(randomBytes(2_000)),
  () => sendRaw(`POST ${target.pathname} HTTP/1.1\r\nhost: x\r\nx: ${'forged'.repeat(4_000)}\r\n\r\n`),
  () => sendRaw('POST / HTTP/1.1\r\nhost: x\r\ncontent-length: 5\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n'),
  () => sendRaw(`POST ${target.pathname} HTTP/1.1\r\nhost: x\r\ntransfer-encoding: chunked\r\n\r\nffffffff\r\nforged`),
]

/**
 * The kinds of slow clients (silent, slow headers, slow body): the first bytes that each sends, and the byte that it
 * repeats.
 */
const SLOW: readonly { first: string; drip: string }[] = [
  { first: '', drip: '' },
  { first: `POST ${target.pathname} HTTP/1.1\r\nhost: x\r\n`, drip: 'x' },
  { first: `POST ${target.pathname} HTTP/1.1\r\nhost: x\r\ncontent-length: 1000\r\n\r\n`, drip: '{' },
]
/** The open slow clients with their next byte, by the tick in which they send it. */
const slow = Array.from({ length: TICKS_PER_DRIP }, () => new Map<Socket, string>())
const openSockets = () => slow.reduce((sum, clients) => sum + clients.size, 0)

function dialSlowly(): void {
  const { first, drip } = SLOW[number % SLOW.length]!
  const socket = connect({ port, host: '127.0.0.1', localAddress: addressOf(1, SLOW_ADDRESSES) })
  const clients = slow[counts.dialled++ % slow.length]!
  clients.set(socket, drip)
  socket.on('error', () => {})
  socket.on('connect', () => void (first !== '' && socket.write(first)))
  socket.on('close', () => {
    clients.delete(socket)
    counts.droppedSockets++
  })
  socket.resume()
}

let ticks = 0
let garbageDue = 0
let isReady = false
setInterval(() => {
  garbageDue += (garbagePerSecond * TICK_MS) / 1_000
  for (; garbageDue >= 1; garbageDue--) {
    counts.garbage++
    GARBAGE[counts.garbage % GARBAGE.length]!()
  }
  const missing = Math.min(DIALS_A_TICK, slowSockets - openSockets())
  for (let dialled = 0; dialled < missing; dialled++) dialSlowly()
  for (const [socket, drip] of slow[ticks++ % slow.length]!) if (drip !== '' && socket.writable) socket.write(drip)
  if (!isReady && counts.dialled >= slowSockets) {
    isReady = true
    process.send?.('ready')
  }
}, TICK_MS)
process.on('message', () => process.send?.({ ...counts, openSockets: openSockets() }))
