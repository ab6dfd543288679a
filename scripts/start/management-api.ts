/** A client of the management API for the launcher and the demo. Both use the public API only. */

/** An answer of the management API with a status other than 2xx. */
export class ApiRefusal extends Error {
  readonly status: number
  /** The error code of the problem document. */
  readonly reason: string

  constructor(call: string, status: number, reason: string) {
    super(`${call} was answered ${status}: ${reason}`)
    this.name = 'ApiRefusal'
    this.status = status
    this.reason = reason
  }
}

export interface ManagementApi {
  get<T>(path: string): Promise<T>
  post<T>(path: string, body: object): Promise<T>
  patch<T>(path: string, body: object): Promise<T>
  delete(path: string): Promise<void>
  /** A client with another key. */
  withKey(key: string): ManagementApi
}

/** The detail and the code of a problem document (docs/errors.md); for any other body its text. */
export function reasonIn(answer: string): string {
  try {
    const { code, detail } = JSON.parse(answer) as { code?: string; detail?: string }
    if (code !== undefined && detail !== undefined) return `${detail} (${code})`
  } catch {
    // The body is no JSON, so it is no problem document.
  }
  return answer.slice(0, 500)
}

/**
 * Reports an operation with a key of its own, as software does. Whoever reports an operation cannot approve it. The key is revoked afterwards.
 */
export async function reportAsSoftware<T>(api: ManagementApi, projectId: string, operation: object): Promise<T> {
  const wanted = { name: 'Billing', scopes: ['operations:write'], project_id: projectId }
  const { key, key_id } = await api.post<{ key: string; key_id: string }>('/v1/api-keys', wanted)
  const reported = await api.withKey(key).post<T>('/v1/operations', operation)
  await api.delete(`/v1/api-keys/${key_id}`)
  return reported
}

/** Creates a client. @param adminUrl base URL without a slash at the end */
export function createManagementApi(adminUrl: string, key: string): ManagementApi {
  async function call<T>(method: string, path: string, body?: object): Promise<T> {
    const response = await fetch(`${adminUrl}${path}`, {
      method,
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      signal: AbortSignal.timeout(15_000),
    }).catch((error: unknown) => {
      throw new Error(`The management API at ${adminUrl} does not answer`, { cause: error })
    })
    const text = await response.text()
    if (!response.ok) throw new ApiRefusal(`${method} ${path}`, response.status, reasonIn(text))
    return (text === '' ? undefined : JSON.parse(text)) as T
  }
  return {
    get: path => call('GET', path),
    post: (path, body) => call('POST', path, body),
    patch: (path, body) => call('PATCH', path, body),
    delete: path => call('DELETE', path),
    withKey: other => createManagementApi(adminUrl, other),
  }
}
