import { Problem, ShownAction } from '@backstop/contracts'
import { CommandFault } from '../fault.ts'
import type { ApiAddress } from '../running-product.ts'

const TIMEOUT_MS = 15_000

/**
 * Reads an action from the management API. @throws CommandFault if the action does not exist, the key is refused, or there is no answer
 */
export async function fetchAction(actionId: string, { url, key }: ApiAddress): Promise<ShownAction> {
  const response = await requestAction(`${url}/v1/actions/${encodeURIComponent(actionId)}`, key).catch(
    (error: unknown) => {
      const remedy = 'Check that it runs, and that BACKSTOP_URL, if set, has the address of its management API'
      throw new CommandFault('nothing_there', `Nothing answers at ${url} (${reasonOf(error)})`, remedy, error)
    },
  )
  const answer = await readAnswer(response)
  if (response.ok) {
    const action = ShownAction.safeParse(answer)
    if (action.success) return action.data
    throw new CommandFault(
      'failed',
      `${url} did not answer with an action`,
      'Check that it is the management API of Backstop',
    )
  }
  const problem = Problem.safeParse(answer)
  const detail = problem.success ? problem.data.detail : `It answered ${response.status}`
  if (response.status === 401 || response.status === 403) {
    throw new CommandFault('refused', `The key was refused: ${detail}`, 'The key needs the scope read')
  }
  if (response.status === 404 && problem.success) {
    throw new CommandFault(
      'not_found',
      detail,
      'A key that is bound to a project sees only the actions of that project',
    )
  }
  throw new CommandFault('failed', `${url} failed: ${detail}`)
}

function requestAction(url: string, key: string): Promise<Response> {
  return fetch(url, {
    headers: { authorization: `Bearer ${key}` },
    redirect: 'error',
    signal: AbortSignal.timeout(TIMEOUT_MS),
  })
}

async function readAnswer(response: Response): Promise<unknown> {
  try {
    return await response.json()
  } catch {
    return undefined
  }
}

/** fetch puts the reason of a failure into the cause of its error. */
function reasonOf(error: unknown): string {
  const cause = error instanceof Error ? error.cause : undefined
  if (cause instanceof Error) return 'code' in cause ? String(cause.code) : cause.message
  return error instanceof Error ? error.message : String(error)
}
