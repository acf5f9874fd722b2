import jsxA11y from 'eslint-plugin-jsx-a11y'
import hooks from 'eslint-plugin-react-hooks'
import tseslint from 'typescript-eslint'

export default tseslint.config(
  { ignores: ['node_modules/**', 'dist/**', 'tools/**', 'src/apischema.d.ts'] },
  ...tseslint.configs.strict,
  {
    files: ['**/*.{ts,tsx}'],
    plugins: { 'jsx-a11y': jsxA11y, 'react-hooks': hooks },
    languageOptions: { parserOptions: { ecmaFeatures: { jsx: true } } },
    rules: {
      ...jsxA11y.flatConfigs.strict.rules,
      'react-hooks/rules-of-hooks': 'error',
      'react-hooks/exhaustive-deps': 'error',
      'max-len': ['error', { code: 140, ignoreUrls: true }],
      'max-lines': ['error', 400],
      'max-lines-per-function': ['error', { max: 90, skipComments: true, skipBlankLines: true }],
      complexity: ['error', 20],
      // Text of modules is hostile: it is never HTML.
      'no-restricted-syntax': [
        'error',
        { selector: 'JSXAttribute[name.name="dangerouslySetInnerHTML"]', message: 'text is text: no HTML from data' },
        { selector: 'MemberExpression[property.name=/^(innerHTML|outerHTML)$/]', message: 'text is text: no HTML from data' },
      ],
      'no-eval': 'error',
      '@typescript-eslint/no-explicit-any': 'error',
      '@typescript-eslint/no-non-null-assertion': 'error',
    },
  },
  { files: ['**/*.test.{ts,tsx}', 'mock/**'], rules: { 'max-lines-per-function': 'off', complexity: 'off' } },
)
