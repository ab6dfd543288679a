import { type FormEvent, useState } from 'react'

/** What an input gives to `onChange`: its event, or for selects and numbers the value itself. */
function readInput(given: unknown): unknown {
  const isEvent = typeof given === 'object' && given !== null && 'currentTarget' in given
  return isEvent ? (given.currentTarget as HTMLInputElement).value : (given ?? '')
}

/** The fields of a form. `field(name)` binds an input to one of them; a field that begins as a number stays one. */
export function useFields<F extends object>(initial: F | (() => F)) {
  const [fields, setFields] = useState(initial)
  const edit = (changed: Partial<F>) => setFields(old => ({ ...old, ...changed }))
  const field = <K extends keyof F>(name: K) => ({
    value: fields[name],
    onChange(given: unknown) {
      const value = readInput(given)
      edit({ [name]: typeof fields[name] === 'number' ? Number(value) : value } as Partial<F>)
    },
  })
  return { fields, field, edit, setFields }
}

/** Sends a form by `send`, instead of by the browser. */
export function handleSubmit(send: () => void) {
  return (event: FormEvent) => {
    event.preventDefault()
    send()
  }
}
