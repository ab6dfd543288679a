import { ApiProblem, createClient } from '@backstop/client'
import { MutationCache, QueryCache, QueryClient, type QueryKey, useMutation } from '@tanstack/react-query'
import { repeatAfterMs } from './repeat-after.ts'

/** The management API. Requests carry the cookie of the session. */
export const api = createClient({ baseUrl: window.location.origin, timeoutMs: 15_000, retries: 2 })

type Listener = () => void
const onSessionEnd = new Set<Listener>()

/** Calls the listener when the API answers that nobody is signed in. @returns a function that stops it */
export function listenForSessionEnd(listener: Listener): () => void {
  onSessionEnd.add(listener)
  return () => onSessionEnd.delete(listener)
}

function isSignedOut(error: unknown): boolean {
  return error instanceof ApiProblem && error.status === 401
}

function reportError(error: unknown): void {
  if (isSignedOut(error)) for (const listener of onSessionEnd) listener()
}

export const queryClient = new QueryClient({
  queryCache: new QueryCache({ onError: reportError }),
  mutationCache: new MutationCache({ onError: reportError }),
  defaultOptions: {
    // The client of the API repeats requests itself. Live events keep data fresh, so it is read again only after a while.
    queries: {
      retry: false,
      staleTime: 30_000,
      gcTime: 10 * 60_000,
      networkMode: 'always',
      refetchOnReconnect: true,
      refetchInterval: ({ state }) => repeatAfterMs(state.error),
    },
    // Without a network a change fails at once. React Query would keep it, and send it later, when nobody expects it any more.
    mutations: { retry: false, networkMode: 'always' },
  },
})

/** Reads everything about these resources, or with these beginnings of query keys, again after a change. */
export async function refresh(...keys: readonly (string | QueryKey)[]): Promise<void> {
  await Promise.all(keys.map(key => queryClient.invalidateQueries({ queryKey: typeof key === 'string' ? [key] : key })))
}

interface Options<A, R> {
  /** The resources, or the beginnings of query keys, that are read again after the change. */
  refresh?: readonly (string | QueryKey)[]
  onDone?: (result: R, given: A) => unknown
  /** Called before the error is shown, which waits for the promise. */
  onError?: (error: Error, given: A) => unknown
}

/** A change at the API: its progress and its error, and `mutate(given)` that sends it. */
export function useWrite<R, A = void>(send: (given: A) => Promise<R>, options: Options<A, R> = {}) {
  return useMutation({
    mutationFn: send,
    async onSuccess(result, given) {
      await options.onDone?.(result, given)
      await refresh(...(options.refresh ?? []))
    },
    onError: (error, given) => options.onError?.(error, given),
  })
}
