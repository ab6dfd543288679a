import { setTimeout as sleep } from 'node:timers/promises'
import { beginAnew } from './kept-secrets.ts'
import { ApiRefusal, createManagementApi } from './management-api.ts'
import { StartFault } from './start-fault.ts'

/** admin-api stores its first key while it already listens: so long a refusal may only be early. */
const PATIENCE_MS = 5_000

/**
 * Ends a start whose secrets.json and whose database do not belong together: the key that would be shown opens nothing, and
 * the secrets of connections cannot be read.
 * @throws StartFault
 */
export async function refuseForeignDatabase(adminUrl: string, key: string, dataDir: string): Promise<void> {
  const api = createManagementApi(adminUrl, key)
  const deadline = performance.now() + PATIENCE_MS
  while (true) {
    try {
      await api.get('/v1/projects?limit=1')
      return
    } catch (error) {
      if (!(error instanceof ApiRefusal) || error.status !== 401) throw error
      if (performance.now() > deadline) {
        throw new StartFault(
          `The database was begun with another key than that of ${dataDir}/secrets.json`,
          beginAnew(dataDir),
        )
      }
    }
    await sleep(200)
  }
}
