import { ApiRefusal, createManagementApi } from './management-api.ts'
import { shownPath } from './next-steps.ts'
import { StartFault } from './start-fault.ts'

/**
 * Checks that admin-api accepts the key of secrets.json. Call it when admin-api is ready, so that its answer is final.
 * @returns the error with its remedy if admin-api refuses the key
 */
export async function findRefusedKey(adminUrl: string, key: string, dataDir: string): Promise<StartFault | undefined> {
  try {
    await createManagementApi(adminUrl, key).get('/v1/projects?limit=1')
    return undefined
  } catch (error) {
    if (error instanceof ApiRefusal && error.status === 401) return refusedKeyFault(error.reason, dataDir)
    throw error
  }
}

/** The error for a refused key. The product keeps running, because the recovery command needs its database. */
function refusedKeyFault(reason: string, dataDir: string): StartFault {
  const path = `${shownPath(dataDir)}/secrets.json`
  return new StartFault(
    `The management API refuses the API key of ${path}: ${reason}`,
    [
      'If this database was set up with another secrets.json, put that file back: stored secrets cannot be read without it.',
      'Otherwise create a new key while Backstop runs, and put it into the file as bootstrapKey:  npx backstop keys recover --no-expiry',
    ].join('\n    '),
  )
}
