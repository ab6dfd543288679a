/**
 * The references: an HTTP server that reads the body, checks its signature and answers. With BROKERS it also sends each
 * event to Kafka by itself before the answer, as the shortest program with kafkajs does.
 */
import { createHmac, createSecretKey, timingSafeEqual } from 'node:crypto'
import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import kafkajs, { type Producer } from 'kafkajs'
import { reportCpuTime } from '../frame/children.ts'

const { SECRET = '', BROKERS = '', TOPIC = '' } = process.env
const key = createSecretKey(Buffer.from(SECRET))
const HEADERS = { 'content-type': 'application/json' }

function isSigned(request: IncomingMessage, body: Buffer): boolean {
  const [time, signature] = String(request.headers['processor-signature']).split(',') as [string, string]
  const expected = createHmac('sha256', key)
    .update(`${time.slice(2)}.`)
    .update(body)
    .digest()
  return timingSafeEqual(expected, Buffer.from(signature.slice(3), 'hex'))
}

async function connectProducer(): Promise<Producer | undefined> {
  if (BROKERS === '') return undefined
  const kafka = new kafkajs.Kafka({ brokers: BROKERS.split(','), clientId: 'naive', logLevel: kafkajs.logLevel.ERROR })
  const producer = kafka.producer({
    allowAutoTopicCreation: false,
    createPartitioner: kafkajs.Partitioners.DefaultPartitioner,
  })
  await producer.connect()
  return producer
}

const producer = await connectProducer()
const server = createServer((request, response) => {
  const chunks: Buffer[] = []
  request.on('data', chunk => chunks.push(chunk))
  request.on('end', () => {
    const body = chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks)
    if (!isSigned(request, body)) return response.writeHead(400, HEADERS).end('{"refused":true}')
    const answer = () => response.writeHead(200, HEADERS).end('{"received":true}')
    if (producer === undefined) return answer()
    const messages = [{ key: String(request.headers['processor-signature']), value: body }]
    return producer.send({ topic: TOPIC, acks: -1, messages }).then(answer, error => {
      process.stderr.write(`${error}\n`)
      response.writeHead(503).end()
    })
  })
})
server.keepAliveTimeout = 75_000
reportCpuTime()
server.listen(0, '127.0.0.1', () => process.send?.((server.address() as AddressInfo).port))
