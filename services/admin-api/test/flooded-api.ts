/** The API in a process of its own, so that its memory can be measured: tells its port, then its memory whenever it is asked. */
import { createMemoryBus, Secret, systemClock } from '@backstop/kit'
import { openMemoryBooks } from '@backstop/ledger/test'
import { createAdminApp } from '../src/app.ts'
import { MAIL_EVENTS_TOKEN, portsOfTests } from './admin-world.ts'
import { createMemoryStores } from './memory-stores.ts'

const stores = createMemoryStores()
const app = createAdminApp(
  portsOfTests(
    {
      bus: createMemoryBus({ clock: systemClock }),
      clock: systemClock,
      stores,
      openBooks: options => openMemoryBooks(options),
    },
    { mailEventsToken: new Secret(MAIL_EVENTS_TOKEN) },
  ),
)
await app.start()
process.on('message', () => process.send?.({ rss: process.memoryUsage().rss }))
process.on('disconnect', () => process.exit(0))
process.send?.({ port: app.port() })
