/** Reads the memory of a process of a service through its inspector, which can collect its garbage first. */

import { once } from 'node:events'
import { createWriteStream } from 'node:fs'
import { type Sample, seriesOf } from './growth.ts'

export interface InspectedProcess {
  readonly name: string
  sample(atMs: number): Promise<Sample>
  /** Writes a heap snapshot, which the developer tools of Chromium open. */
  writeSnapshot(path: string): Promise<void>
  close(): void
}

interface Reply {
  readonly id?: number
  readonly method?: string
  readonly params?: { readonly chunk: string }
  readonly result?: Readonly<Record<string, number>>
  readonly error?: { readonly message: string }
}

/** Connects to the inspector that NODE_OPTIONS opened on this port of the loopback interface. */
export async function inspectProcess(name: string, opsUrl: string, port: number): Promise<InspectedProcess> {
  const list = (await (await fetch(`http://127.0.0.1:${port}/json/list`)).json()) as { webSocketDebuggerUrl: string }[]
  const socket = new WebSocket(list[0]?.webSocketDebuggerUrl ?? '')
  await once(socket, 'open')
  const waiting = new Map<number, (reply: Reply) => void>()
  let onChunk = (_chunk: string) => {}
  let lastId = 0
  socket.addEventListener('message', ({ data }) => {
    const reply = JSON.parse(String(data)) as Reply
    if (reply.method === 'HeapProfiler.addHeapSnapshotChunk') onChunk(reply.params?.chunk ?? '')
    if (reply.id !== undefined) waiting.get(reply.id)?.(reply)
  })
  async function call(method: string): Promise<Readonly<Record<string, number>>> {
    lastId += 1
    const { promise, resolve } = Promise.withResolvers<Reply>()
    waiting.set(lastId, resolve)
    socket.send(JSON.stringify({ id: lastId, method }))
    const { result = {}, error } = await promise
    if (error !== undefined) throw new Error(`${name}: ${method}: ${error.message}`)
    return result
  }
  return {
    name,
    async sample(atMs) {
      await call('HeapProfiler.collectGarbage')
      const { usedSize = 0, backingStorageSize = 0 } = await call('Runtime.getHeapUsage')
      const response = await fetch(`${opsUrl}/metrics`)
      const page = await response.text()
      if (!response.ok) throw new Error(`${name}: /metrics answered ${response.status}: ${page.slice(0, 200)}`)
      const residentBytes = Number(/^process_resident_memory_bytes(?:{.*})? (\S+)/m.exec(page)?.[1])
      return { atMs, usedBytes: usedSize + backingStorageSize, residentBytes, series: seriesOf(page) }
    },
    async writeSnapshot(path) {
      const file = createWriteStream(path)
      onChunk = chunk => void file.write(chunk)
      await call('HeapProfiler.takeHeapSnapshot')
      file.end()
      await once(file, 'finish')
    },
    close: () => socket.close(),
  }
}
