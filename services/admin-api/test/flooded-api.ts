/** Runs the API as a separate process, so that its memory can be measured. It sends its port, then its memory use on request. */

import { createMemoryStores } from './memory-stores.ts'
import { createTestApp } from './test-api.ts'

const app = createTestApp({ stores: createMemoryStores() })
await app.start()
process.on('message', () => process.send?.({ rss: process.memoryUsage().rss }))
process.on('disconnect', () => process.exit(0))
process.send?.({ port: app.port() })
