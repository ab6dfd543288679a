/** The API in a process of its own, so that its memory can be measured: tells its port, then its memory whenever it is asked. */
import { createTestApp } from './admin-world.ts'
import { createMemoryStores } from './memory-stores.ts'

const app = createTestApp({ stores: createMemoryStores() })
await app.start()
process.on('message', () => process.send?.({ rss: process.memoryUsage().rss }))
process.on('disconnect', () => process.exit(0))
process.send?.({ port: app.port() })
