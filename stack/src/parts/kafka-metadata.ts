import { connect } from 'node:net'

/**
 * Asks a broker which brokers it knows, in Kafka's own protocol: a Metadata request of version 1 for no topic. No
 * client library is used, because it would retry and log, and a single question with a time limit is needed.
 * @returns the number of brokers in the answer; 0 while the broker starts
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
      // The answer: size (4 bytes), correlation id (4), then the array of brokers, which begins with its length.
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
