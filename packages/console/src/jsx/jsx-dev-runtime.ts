/** The same as jsx-runtime.ts for the dev server of Vite. */
import * as react from 'react/jsx-dev-runtime'
import { withVisibleText } from './visible-text.ts'

export { Fragment, type JSX } from 'react/jsx-dev-runtime'

export const jsxDEV: typeof react.jsxDEV = (type, props, ...more) => react.jsxDEV(type, withVisibleText(props), ...more)
