/** The processor's answer to a request that it refuses, as its API words it. */
export class ProcessorRefusal extends Error {
  /** HTTP status. */
  readonly status: number
  /** The object under `error` in the body. */
  readonly body: Readonly<{ type: string; code?: string; message: string; param?: string; doc_url?: string }>

  constructor(status: number, body: { type: string; code?: string; message: string; param?: string }) {
    super(body.message)
    this.name = 'ProcessorRefusal'
    this.status = status
    this.body =
      body.code === undefined ? body : { ...body, doc_url: `https://stripe.com/docs/error-codes/${body.code}` }
  }
}

/** 400 of type `invalid_request_error`. */
export function invalidRequest(message: string, param?: string, code?: string): ProcessorRefusal {
  return new ProcessorRefusal(400, {
    type: 'invalid_request_error',
    message,
    ...(param === undefined ? {} : { param }),
    ...(code === undefined ? {} : { code }),
  })
}

/** 404 `resource_missing`. */
export function noSuch(kind: string, id: string, param = 'id'): ProcessorRefusal {
  return new ProcessorRefusal(404, {
    type: 'invalid_request_error',
    code: 'resource_missing',
    message: `No such ${kind}: '${id}'`,
    param,
  })
}
