import { connect } from 'node:net'

/**
 * Asks a broker, in Kafka's own protocol, which brokers it knows: a Metadata request of version 1 for no topic.
 * By hand, because a client library retries, logs and warns where one bounded question is wanted.
 * @returns how many brokers it named; 0 while it starts up
 * @see https://kafka.apache.org/protocol (Metadata, api key 3)
 */
export async function countBrokers(port: number, timeoutMs: number): Promise<number> {
  return new Promise((resolve, reject) => {
    const socket = connect({ port, host: '127.0.0.1' })
    let received = Buffer.alloc(0)
    const settle = (act: () => void) => {
      socket.destroy()
      act()
    }
    socket.setTimeout(timeoutMs, () => settle(() => reject(new Error(`Kafka did not answer within ${timeoutMs} ms`))))
    socket.on('error', error => settle(() => reject(error)))
    socket.on('close', () => reject(new Error('Kafka closed the connection')))
    socket.on('connect', () => socket.write(metadataRequest()))
    socket.on('data', (chunk: Buffer) => {
      received = Buffer.concat([received, chunk])
      // Size (4 bytes), correlation id (4), then the array of brokers with its length first.
      if (received.length >= 12) settle(() => resolve(received.readInt32BE(8)))
    })
  })
}

function metadataRequest(): Buffer {
  const clientId = Buffer.from('stack-ready-check')
  const request = Buffer.alloc(4 + 2 + 2 + 4 + 2 + clientId.length + 4)
  let at = request.writeInt32BE(request.length - 4, 0)
  at = request.writeInt16BE(3, at) // Metadata
  at = request.writeInt16BE(1, at) // version
  at = request.writeInt32BE(1, at) // correlation id
  at = request.writeInt16BE(clientId.length, at)
  at += clientId.copy(request, at)
  request.writeInt32BE(0, at) // no topics; null would be all of them
  return request
}
