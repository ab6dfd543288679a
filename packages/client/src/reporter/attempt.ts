/** The next attempt to send the report of one operation. */
export class Attempt {
  readonly isDelivered: Promise<boolean>
  end: (isDelivered: boolean) => void = () => {}

  constructor() {
    this.isDelivered = new Promise(resolve => {
      this.end = resolve
    })
  }
}

/** Waits for a promise, at most for a time. Without a promise it waits for the whole time. */
export async function within<T>(ms: number, promise: Promise<T> = new Promise(() => {})): Promise<T | undefined> {
  let timer: ReturnType<typeof setTimeout> | undefined
  const timeout = new Promise<undefined>(resolve => {
    timer = setTimeout(() => resolve(undefined), ms)
  })
  try {
    return await Promise.race([promise, timeout])
  } finally {
    clearTimeout(timer)
  }
}
