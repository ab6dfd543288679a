/**
 * What JSX compiles to (`jsxImportSource` in vite.config.ts): React's own, after each text was made safe to show. So no
 * page can forget it.
 */
import type { ElementType, Key } from 'react'
import * as react from 'react/jsx-runtime'
import { withVisibleText } from './visible-text.ts'

export { Fragment, type JSX } from 'react/jsx-runtime'

export function jsx(type: ElementType, props: unknown, key?: Key) {
  return react.jsx(type, withVisibleText(props), key)
}

export function jsxs(type: ElementType, props: unknown, key?: Key) {
  return react.jsxs(type, withVisibleText(props), key)
}
