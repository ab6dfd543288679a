import { type Client, createClient } from '@backstop/client'
import { findApi } from './running-product.ts'
import type { Surroundings } from './surroundings.ts'

const TIMEOUT_MS = 15_000

/** Creates the client of the management API. @throws CommandFault if no address is known */
export function openClient(surroundings: Surroundings): Client {
  const { url, key } = findApi(surroundings)
  return createClient({ baseUrl: url, key, timeoutMs: TIMEOUT_MS, retries: 1 })
}
