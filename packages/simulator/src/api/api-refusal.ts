/** The answer to a refused request: status, the provider's error body, and headers such as `retry-after`. */
export class ApiRefusal<Body extends object = object> extends Error {
  /** HTTP status. */
  readonly status: number
  readonly body: Body
  readonly headers: Readonly<Record<string, string>>

  constructor(status: number, message: string, body: Body, headers: Readonly<Record<string, string>> = {}) {
    super(message)
    this.name = new.target.name
    this.status = status
    this.body = body
    this.headers = headers
  }
}
